/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Judges whether the machine may be held now, and waits until that may have changed. */

#include "source/sample.h"
#include "util/log.h"

struct guard;

/* @force_discharge: a charger may be plugged in, as long as the battery discharges while a mode is held. */
int guard_open(int root_fd, bool force_discharge, const struct log *log, struct guard **ret);
/* Ignores a supply that is shown as online: the battery alone decides. */
void guard_ignore_supply(struct guard *guard);
void guard_close(struct guard *guard);
/* From now on also watches the users' sessions, on the running machine. */
void guard_watch_sessions(struct guard *guard);

/*
 * To be called around our own changes: a session that stops being idle right after one woke because of it (a
 * white picture inhibits idling), not because of its user. @held: a mode is being held now. NULL does
 * nothing.
 */
void guard_before_change(struct guard *guard);
void guard_after_change(struct guard *guard, bool held);

/* Waits until @until_ns of CLOCK_BOOTTIME, or until something changes. 0; -EINTR: a signal; another negative errno. */
int guard_wait(struct guard *guard, uint64_t until_ns);
/* Judges whether the machine may be held now; as may_go_on() of struct hardware_ops. */
int guard_judge(struct guard *guard, const struct sample *sample, char *reason, size_t size);
