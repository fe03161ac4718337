/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How unequal the charges of shown percents are, by the time that each of some takes under a steady load, at
 * the begin of a calibration by percent. Gauges that estimate the charge from voltages show percents of half
 * and of twice the mean.
 */

#include "observation.h"

/* Is @observation one of those percents? */
bool scatter_counts(const struct observation *observation);
/*
 * Relative standard deviation of one percent's charge; NaN: there are fewer than three percents. @n: their number.
 */
double scatter_of(const struct observation *list, size_t n_list, size_t *n);
