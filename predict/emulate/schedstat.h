/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * How long a thread ran since it began, and how long it could have run but did not, as others had the CPU or its quota was used up:
 * /proc/TID/schedstat. The kernel adds to the second one when the thread runs again. 0; -ESRCH: the thread is gone, or the
 * kernel counts neither.
 */
int schedstat_read(pid_t tid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* Does it run, or could it? */
bool schedstat_waits(pid_t tid);
