/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Medians without sorting: of 400,000 devices this is most of a report's work. */

#include <stddef.h>

struct weighted {
        double value;
        double weight; /* at least 0 */
};

/* Both reorder @list. */
double median(double *list, size_t n); /* the mean of the two in the middle; NaN: @n is 0 */
/* The lowest value at which at least half of all weight lies at or below it; 0: @n is 0. */
double median_weighted(struct weighted *list, size_t n);
