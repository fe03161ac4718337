/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of bench-hooks share. */

#include "process/collector.h"

/* The BPF collector, on the machine or a tree of its; ends the benchmark where there is none. */
struct source *hooks_load(const char *root, uint32_t leave_out, enum net_by net_by);
double hooks_median(double *values, size_t n); /* sorts them */

void measure_net(void);
