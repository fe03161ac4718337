/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* This machine's cpufreq policies through libcpupower, which shows and sets them. */

#include "hardware.h"

struct frequency_policy {
        struct hardware_policy shown;
        uint32_t cpus[64];          /* online, ascending; shown.n_cpus of them */
        bool userspace;             /* has the governor that lets us set the speed */
        uint32_t min_khz, max_khz;  /* what the hardware can now */
        uint32_t limit_max_khz;     /* the upper limit that is set now */
};

/*
 * Fills @policies (up to @size) with those that have a CPU online.
 * How many; -ENODEV: none; -ENOSYS: no libcpupower.
 */
int frequency_policies(struct frequency_policy *policies, size_t size);
/* Looks again at the range, which boost widens, and at the limit. */
int frequency_range(struct frequency_policy *policy);

/* Of the policy that @cpu, which is online, belongs to. 0; -EIO: the kernel refuses. */
int frequency_set_governor(uint32_t cpu, const char *governor);
int frequency_set_min(uint32_t cpu, uint32_t khz);
int frequency_set_max(uint32_t cpu, uint32_t khz);
int frequency_set_speed(uint32_t cpu, uint32_t khz); /* needs the governor userspace */
