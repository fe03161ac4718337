/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Moves this process into a systemd scope NAME-PID.scope. -ENOSYS: no systemd runs, or built without it. */
int scope_enter(const char *name);
