/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

struct scope_plan {
        const char *name, *description;
        /*
         * controller of control groups to be used below the scope; NULL: none. A user's scope belongs to the
         * user's own systemd
         */
        const char *controller;
};

/* Moves this process into a systemd scope NAME-PID.scope. -ENOSYS: no systemd runs, or built without it. */
int scope_enter(const struct scope_plan *plan);
