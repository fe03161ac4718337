/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ensures that no unit stays limited without an agent. A guard, a second process of this program (--restore),
 * waits at a pipe for the agent's end and then undoes the limits listed in joulecast-limits. The unit's
 * ExecStopPost does the same, and so does each agent when it starts.
 */

#include <sys/types.h>

#include "limit/limit-state.h"
#include "unit-manager.h"
#include "util/log.h"

/* Thaws a unit and restores its CPU time. Returns 0, also if it has ended; or a negative errno. */
int limit_undo_unit(struct unit_manager *manager, const struct limit_unit *unit);

/*
 * Undoes everything in joulecast-limits; the caller has the lock. Entries that fail stay in the file. Returns
 * 0 or a negative errno.
 */
int limit_undo_all(const struct log *log);

/*
 * main() of --restore: waits for the end of standard input (unless that is a terminal), and then at most a
 * second for an agent or another process that undoes. Returns an exit code.
 */
int limit_undo_main(const struct log *log);

struct limit_guard {
        int fd; /* write end of the pipe, which gets an error when the guard has ended; -1: there is none */
        pid_t pid;
};

/* Returns 0 or a negative errno. */
int limit_guard_start(struct limit_guard *guard);
void limit_guard_stop(struct limit_guard *guard); /* it ends soon; the caller waits for @pid */
