/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Each thread of an app in a control group of its own, whose quota slows it, below the one that all share. */

#include "groups.h"

struct quota;

/* 0; -ENOMEM. @groups must outlive it. */
int quota_new(const struct groups *groups, struct quota **ret);
void quota_free(struct quota *quota);
/* Before and after quota_thread() of every thread that there is: those that were not named have ended. */
void quota_begin(struct quota *quota);
void quota_end(struct quota *quota);
/* 0; a negative errno: it stays in the group of the thread that made it, and shares its part. */
int quota_thread(struct quota *quota, pid_t tid);
/*
 * After quota_end(), with the time since the run began. What the kernel grants for a period is lost when
 * others had the CPU for longer than that; threads that got less than their part of the time for which they
 * could have run get it later.
 */
void quota_settle(struct quota *quota, int64_t now_ns);
/* How much slower than here threads were while they could run, all together; NaN: none ran. */
double quota_reached(const struct quota *quota);
