/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "columns.h"

/* Is @policy this one, or of this group? */
bool columns_device_has(const struct device_policy *group, uint32_t policy);
/* Index of the policy or group that @policy belongs to; -1: none. */
ssize_t columns_device_find(const struct device *device, uint32_t policy);
/* Adds an observed operating point that the device's list lacks, e.g. the only one without cpufreq. 0; -E2BIG. */
int columns_device_learn(struct device *device, const struct point *cpu);
/* Adds the events that were counted on a policy, or a group; false: there are none. */
bool columns_row_kind(const struct device_policy *policy, const struct points *counted,
                      double sum[COUNTED_COUNT]);
