/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu.h"

#include <stdio.h>

#include "util/util.h"

#define CPU_FOLDER "sys/devices/system/cpu"
#define STEP_KHZ UINT64_C(100000)

static uint64_t read_number(int root_fd, const char *path)
{
        char text[32];
        uint64_t value;

        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &value) < 0)
                return 0;
        return value;
}

/* The maximum frequency without boost. A mode at a frequency that only boost reaches would not run at it. */
static uint64_t without_boost(int root_fd, uint32_t policy, uint64_t min, uint64_t max)
{
        char path[96];
        uint64_t khz;

        /* intel_pstate; then amd-pstate, in MHz. */
        snprintf(path, sizeof(path), CPU_FOLDER "/cpufreq/policy%u/base_frequency", policy);
        khz = read_number(root_fd, path);
        snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/acpi_cppc/nominal_freq", policy);
        if (!khz)
                khz = MIN(read_number(root_fd, path), UINT32_MAX) * 1000;
        return khz > min && khz < max ? khz : max;
}

/* These drivers work in steps of 100 MHz (the bus clock), so the grid does too, except at its ends. */
size_t cpu_grid(int root_fd, uint32_t policy, uint64_t min, uint64_t max, uint32_t ret[CPU_GRID_POINTS])
{
        size_t n = 0;

        if (min == 0 || max > UINT32_MAX || min >= max)
                return 0;
        max = without_boost(root_fd, policy, min, max);
        for (uint64_t i = 0; i < CPU_GRID_POINTS; i++) {
                uint64_t khz = min + (max - min) * i / (CPU_GRID_POINTS - 1);

                khz = MIN(MAX((khz + STEP_KHZ / 2) / STEP_KHZ * STEP_KHZ, min), max);
                if (n == 0 || ret[n - 1] != khz)
                        ret[n++] = (uint32_t)khz;
        }
        return n;
}

bool cpu_limits(int root_fd, const struct cpu_policy *policy, uint64_t *min, uint64_t *max)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/cpuinfo_min_freq", policy->path);
        *min = read_number(root_fd, path);
        snprintf(path, sizeof(path), "%s/cpuinfo_max_freq", policy->path);
        *max = read_number(root_fd, path);
        return *min > 0 && *max > *min;
}
