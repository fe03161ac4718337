/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* This machine's cpufreq policies as libcpupower sees them. */

#include "hardware.h"

/* Fills @policies (up to @size). Returns how many; -ENODEV: no cpufreq; -ENOSYS: built without libcpupower. */
int frequency_policies(struct hardware_policy *policies, size_t size);
