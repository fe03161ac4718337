/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Nothing stays limited without an agent. A guard, another process of this program (--restore), waits for its end at a
 * pipe, and then undoes what joulecast-limits says. So does the unit's ExecStopPost, and each agent when it starts.
 */

#include <sys/types.h>

#include "limit/limit-state.h"
#include "unit-manager.h"
#include "util/log.h"

/* Thaws a unit, and gives it back its CPU time. 0, also where it has ended; a negative errno. */
int limit_undo_unit(struct unit_manager *manager, const struct limit_unit *unit);

/* Everything in joulecast-limits, under the lock, which the caller has. What fails stays in the file. 0; a negative errno. */
int limit_undo_all(const struct log *log);

/*
 * The main() of --restore: waits for the end of standard input (unless that is a terminal), then for an agent or
 * another one that undoes, a second at most. An exit code.
 */
int limit_undo_main(const struct log *log);

struct limit_guard {
        int fd;    /* the pipe's writing end, which has an error when the guard has ended; -1: there is none */
        pid_t pid;
};

/* 0; a negative errno. */
int limit_guard_start(struct limit_guard *guard);
void limit_guard_stop(struct limit_guard *guard); /* it ends soon; the caller waits for @pid */
