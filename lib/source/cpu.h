/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * CPUs as cpufreq shows them: policies (CPUs that share a clock) and their operating points, under
 * sys/devices/system/cpu/cpufreq/policyN or, on older kernels, cpuN/cpufreq.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

#define CPU_POINTS_MAX 64
#define CPU_POLICY_CPUS_MAX 512 /* CPUs of one policy; servers have one policy for all */
#define CPU_GOVERNORS_MAX 12

struct cpu_policy {
        uint32_t policy;
        char path[64];                          /* path of its cpufreq folder, relative to the root */
        uint32_t cpus[CPU_POLICY_CPUS_MAX];     /* numbers of its CPUs, including offline ones; ascending */
        size_t n_cpus;
        uint32_t khz[CPU_POINTS_MAX];           /* ascending; empty if the driver has no list (intel_pstate) */
        size_t n_khz;
        char governors[CPU_GOVERNORS_MAX][20];
        size_t n_governors;
        /* number of the first policy of the same kind; its own number if it is the first */
        uint32_t kind;
};

/*
 * Least number of policies of a kind that are measured as one. Two are measured separately, which adds a few states to
 * a calibration.
 */
#define CPU_KIND_MIN 3

int cpu_open(int root_fd, struct source **ret);

/* @ret: ascending; free() it. 0, also if there is no cpufreq; a negative errno. */
int cpu_list(int root_fd, struct cpu_policy **ret, size_t *ret_n);

/* Finds policies of one kind (same number of CPUs, frequencies and type of core); cpu_list() calls it. -ENOMEM. */
int cpu_list_kinds(int root_fd, struct cpu_policy *list, size_t n);

/*
 * Frequencies for a policy whose driver lists none (intel_pstate, amd-pstate): eight, from the lowest to the highest
 * without boost, ascending. Calibration and collectors use the same ones. @min and @max: the hardware's limits, kHz.
 * Returns their number.
 */
#define CPU_GRID_POINTS 8
size_t cpu_grid(int root_fd, uint32_t policy, uint64_t min, uint64_t max, uint32_t ret[CPU_GRID_POINTS]);
/* The hardware's limits, kHz, boost included. */
bool cpu_limits(int root_fd, const struct cpu_policy *policy, uint64_t *min, uint64_t *max);

/* Parsers, one for each file of the kernel. */
struct cpu_time_in_state {
        uint32_t khz;
        uint64_t ticks; /* time in units of 10 ms (USER_HZ) */
};

/* stats/time_in_state: "KHZ TICKS" lines. Ascending by kHz, without invalid lines. Returns their number. */
size_t cpu_parse_time_in_state(const char *text, struct cpu_time_in_state *ret, size_t most);

/* scaling_available_frequencies: "KHZ KHZ ...", in either order. @ret: ascending. Returns their number. */
size_t cpu_parse_khz(const char *text, uint32_t *ret, size_t most);

/* "0 1 2 3", "0-3,5". @ret: ascending, each once. Returns their number. */
size_t cpu_parse_list(const char *text, uint32_t *ret, size_t most);

/* "0-3,5", as the kernel and profiles write it; cut to @size. */
char *cpu_print_list(const uint32_t *cpus, size_t n, char *buf, size_t size);

/*
 * One line of /proc/stat: "cpuN user nice system idle iowait irq softirq steal ..."; not the first, which is the
 * sum. @idle_ticks: 0 if it is implausible.
 */
bool cpu_parse_stat_line(const char *line, uint32_t *cpu, uint64_t *busy_ticks, uint64_t *idle_ticks);
