/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether this machine may be held now, and a wait that ends early when there is news about that. */

#include "source/sample.h"
#include "util/log.h"

struct guard;

/* @force_discharge: a charger may be plugged in, as long as the battery discharges while a mode is held. */
int guard_open(int root_fd, bool force_discharge, const struct log *log, struct guard **ret);
void guard_close(struct guard *guard);
/* From now on by the users' sessions, too, where the running machine knows them. */
void guard_watch_sessions(struct guard *guard);

/*
 * Around what we do to the machine: a session that is no longer idle right after that woke by us (a white
 * picture inhibits idling) and not by its user. @held: it is in the state of a mode now. NULL is nothing.
 */
void guard_before_change(struct guard *guard);
void guard_after_change(struct guard *guard, bool held);

/* Until @until_ns of CLOCK_BOOTTIME, or earlier. 0; -EINTR: a signal; a negative errno. */
int guard_wait(struct guard *guard, uint64_t until_ns);
/* As may_go_on() of struct hardware_ops. */
int guard_judge(struct guard *guard, const struct sample *sample, char *reason, size_t size);
