/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions shared by the files of bench-hooks. */

#include "process/collector.h"

/* Opens the BPF collector on the machine or a tree; ends the benchmark if it does not load. */
struct source *hooks_load(const char *root, uint32_t leave_out, enum net_by net_by);
double hooks_median(double *values, size_t n); /* sorts them */

void measure_net(void);
