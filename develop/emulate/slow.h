/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Makes an app as slow as on the target, by stopping its processes for parts of the time, and counts its CPU time.
 *
 * Each thread may use 1/factor of the time, and all together so much of each of the target's CPUs. A process that used
 * more is stopped until its average is right again, so its speed is exact over some ms, but not within them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record.h"

struct slow;
struct quota;

struct slow_plan {
        double factor;       /* 1 or less: nothing is stopped, and only CPU time is counted */
        struct quota *quota; /* quotas by which the kernel slows the app, so that nothing is stopped; NULL: none */
        uint32_t cpus;       /* number of CPUs that the target has */
        const pid_t *others; /* processes of this namespace that are not the app's */
        size_t n_others;
        int log;             /* gets a struct cpu_record each SLOW_TRACE_MS */
        int tasks;           /* gets a struct task_record at these times for each process that ran */
};

#define SLOW_TRACE_MS 100

/* 0; -ENOMEM. To be used by the first process of a PID namespace, with /proc mounted. */
int slow_new(const struct slow_plan *plan, struct slow **ret);
void slow_free(struct slow *slow);
/* To be called when a process has ended and was not waited for, so that its name and CPU time can still be read. */
void slow_ending(struct slow *slow, pid_t pid, int64_t now_ns);
/* To be called when it was waited for. @cpu_ns: CPU time of the process and its children. */
void slow_ended(struct slow *slow, pid_t pid, int64_t cpu_ns);
/* Stops, continues and counts. Returns when to call it again, in ns since the run began. */
int64_t slow_turn(struct slow *slow, int64_t now_ns);
/* Number of processes of the app that run now. @name gets the kernel's name of the first one. */
size_t slow_alive(struct slow *slow, char name[RECORD_TASK_MAX]);
/* How many times slower the stopped threads were, by the time in which they could run; NaN: not known. */
double slow_reached(const struct slow *slow);
/* Writes the last record, which includes all processes that ended. */
void slow_finish(struct slow *slow, int64_t now_ns);
