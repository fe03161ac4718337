/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

struct scope_plan {
        const char *name, *description;
        const char *controller;   /* of control groups, to be used below the scope; NULL: none. A user's is their own systemd's */
};

/* Moves this process into a systemd scope NAME-PID.scope. -ENOSYS: no systemd runs, or built without it. */
int scope_enter(const struct scope_plan *plan);
