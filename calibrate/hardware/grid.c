/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "grid.h"

#include <stdio.h>

#include "util/util.h"

#define CPU_FOLDER "sys/devices/system/cpu"
#define POINTS 8
#define STEP_KHZ UINT64_C(100000)

static uint64_t read_number(int root_fd, const char *path)
{
        char text[32];
        uint64_t value;

        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &value) < 0)
                return 0;
        return value;
}

/* The maximum includes boost. A mode at a frequency that only boost reaches would never run as asked. */
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
void grid_fill(int root_fd, uint64_t min, uint64_t max, struct hardware_policy *policy)
{
        if (min == 0 || max > UINT32_MAX || min >= max)
                return;
        max = without_boost(root_fd, policy->policy, min, max);
        for (uint64_t i = 0; i < POINTS; i++) {
                uint64_t khz = min + (max - min) * i / (POINTS - 1);

                khz = MIN(MAX((khz + STEP_KHZ / 2) / STEP_KHZ * STEP_KHZ, min), max);
                if (policy->n_khz == 0 || policy->khz[policy->n_khz - 1] != khz)
                        policy->khz[policy->n_khz++] = (uint32_t)khz;
        }
}
