/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Moves this process into a scope NAME-PID.scope of the running systemd.
 * -ENOSYS: there is none, or none built in.
 */
int scope_enter(const char *name);
