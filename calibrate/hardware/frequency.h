/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* This machine's cpufreq policies through libcpupower. */

#include "hardware.h"

struct frequency_policy {
        struct hardware_policy shown;
        uint32_t cpus[64];          /* online, ascending; shown.n_cpus of them */
        bool userspace;             /* has the governor `userspace` */
        uint32_t min_khz, max_khz;  /* the hardware's limits */
        uint32_t limit_max_khz;     /* the maximum that is set */
};

/*
 * Fills @policies (up to @size) with those that have an online CPU. Returns their number; -ENODEV: none; -ENOSYS: built
 * without libcpupower.
 */
int frequency_policies(struct frequency_policy *policies, size_t size);
/* Reads the range, which boost widens, and the maximum again. */
int frequency_range(struct frequency_policy *policy);

/* These set the policy of @cpu, which is online. They return 0; -EIO: the kernel refused. */
int frequency_set_governor(uint32_t cpu, const char *governor);
int frequency_set_min(uint32_t cpu, uint32_t khz);
int frequency_set_max(uint32_t cpu, uint32_t khz);
int frequency_set_speed(uint32_t cpu, uint32_t khz); /* with the governor userspace */
