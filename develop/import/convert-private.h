/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Declarations that convert.c and convert-cpu.c share. */

#include <stdio.h>

#include "convert.h"

#define CONVERT_VOLTS 3.8     /* nominal voltage of a lithium battery */
#define CONVERT_MOST_MA 50000 /* no part of a device takes more, and sums of these are below a profile's bounds */

struct conversion {
        const struct power_profile *from;
        const struct convert_plan *plan;
        FILE *to;
        size_t kept, left_out; /* numbers of components */
};

/* A current in mA, above 0 and possible; else NaN, because 0 in these files means that nobody measured it. */
double convert_current(const struct conversion *conversion, const char *name);
double convert_or_zero(double value);
void convert_leave_out(struct conversion *conversion, const char *component, const char *why);
/* 0; -EINVAL after its sentence: --cpus does not fit the file. */
int convert_cpu(struct conversion *conversion);
