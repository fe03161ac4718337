/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libcpupower: frequencies cannot be set. */

#include <errno.h>

#include "frequency.h"

int frequency_policies(struct frequency_policy *policies, size_t size) { return -ENOSYS; }
int frequency_range(struct frequency_policy *policy) { return -ENOSYS; }
int frequency_set_governor(uint32_t cpu, const char *governor) { return -ENOSYS; }
int frequency_set_min(uint32_t cpu, uint32_t khz) { return -ENOSYS; }
int frequency_set_max(uint32_t cpu, uint32_t khz) { return -ENOSYS; }
int frequency_set_speed(uint32_t cpu, uint32_t khz) { return -ENOSYS; }
