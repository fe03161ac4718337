/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "hardware.h"

/*
 * Frequencies for a policy whose driver lists none (intel_pstate, amd-pstate): eight, from the lowest to the
 * highest without boost. @min and @max: the hardware's limits, kHz.
 */
void grid_fill(int root_fd, uint64_t min, uint64_t max, struct hardware_policy *policy);
