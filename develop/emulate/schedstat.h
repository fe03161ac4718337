/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * How long a thread ran since it began, and how long it could have run but did not, as others had the CPU
 * or its quota was used up: /proc/TID/schedstat. The kernel adds to the second one when the thread runs
 * again. 0; -ESRCH: the thread is gone, or the kernel counts neither.
 */
int schedstat_read(pid_t tid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* As /proc/TID/stat has it: R, S, T, Z and others; X: it is gone. */
char schedstat_state(pid_t tid);
/* CPU time of a process until now, running threads included; -1: it is gone. */
int64_t schedstat_cpu_ns(pid_t pid);
/* CPU time of the children that it has waited for. */
int64_t schedstat_children_ns(pid_t pid);
