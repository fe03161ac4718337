/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Makes an app as slow as on the target, by stopping its processes for parts of the time, and counts its CPU time.
 *
 * Each thread may use 1/factor of the time, and all together as much on each of the target's CPUs. A process that used
 * more is stopped until it is right again, so its speed is exact over some ms, and not within them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct slow;
struct quota;

struct slow_plan {
        double factor;       /* 1 or less: nothing is stopped, and CPU time is counted only */
        struct quota *quota; /* the kernel slows it by that, and nothing is stopped; NULL: there is none */
        uint32_t cpus;       /* of the target */
        const pid_t *others; /* processes of this namespace that are not the app's */
        size_t n_others;
        int log;             /* gets struct cpu_record each SLOW_TRACE_MS */
        int tasks;           /* gets struct task_record then, of each process that ran */
};

#define SLOW_TRACE_MS 100

/* 0; -ENOMEM. To be used by the first process of a PID namespace, with /proc mounted. */
int slow_new(const struct slow_plan *plan, struct slow **ret);
void slow_free(struct slow *slow);
/* A process ended, and was not waited for yet: who it was, and what it ran since the last look, is still to be seen. */
void slow_ending(struct slow *slow, pid_t pid, int64_t now_ns);
/* It was waited for, with the CPU time of itself and of its children. */
void slow_ended(struct slow *slow, pid_t pid, int64_t cpu_ns);
/* To be called when the time comes that it returned before, in ns since the run began. */
int64_t slow_turn(struct slow *slow, int64_t now_ns);
/* The last record, with everything that ended. */
void slow_finish(struct slow *slow, int64_t now_ns);
