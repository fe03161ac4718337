/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Measures how much slower threads are if their processes are stopped for parts of the time. The kernel counts how
 * long a thread ran or waited for a CPU, but not how long it would have run while it was stopped. We estimate this: if
 * a thread of the process wanted to run at the stop, each thread would have run for the same part of the stopped time
 * for which it ran or waited in the rest.
 */

#include <stdint.h>
#include <sys/types.h>

struct reached;

/* How long a process has been stopped since it began. */
struct reached_stops {
        int64_t stopped_ns;
        int64_t wanting_ns; /* part of that, of stops at which it wanted to run */
};

/* @cpus: how many CPUs the threads may use at a time. Returns NULL: no memory. */
struct reached *reached_new(uint32_t cpus);
void reached_free(struct reached *reached);
/* Reads the threads of a process. */
void reached_look(struct reached *reached, pid_t pid, const struct reached_stops *stops, int64_t now_ns);
/* To be called after reached_look() of all processes. */
void reached_settle(struct reached *reached, int64_t now_ns);
/* Time in which threads could have run, divided by the time in which they ran; NaN: none ran. */
double reached_factor(const struct reached *reached);
