/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scatter.h"

#include <math.h>

#define LEAST 3
#define STEADY_ERROR 0.02 /* the load itself, relative */

bool scatter_counts(const struct observation *observation)
{
        return observation->method == METHOD_PERCENT && observation->burn && !observation->rejected[0] &&
               observation->steps > 0 && observation->elapsed_ns > 0;
}

double scatter_of(const struct observation *list, size_t n_list, size_t *n)
{
        double sum = 0, squares = 0, mean, variance;

        *n = 0;
        for (size_t i = 0; i < n_list; i++)
                if (scatter_counts(&list[i])) {
                        double s = (double)list[i].elapsed_ns / list[i].steps;

                        sum += s;
                        squares += s * s;
                        ++*n;
                }
        if (*n < LEAST)
                return NAN;
        mean = sum / (double)*n;
        variance = (squares / (double)*n - mean * mean) * (double)*n / (double)(*n - 1);
        return sqrt(fmax(variance / (mean * mean) - STEADY_ERROR * STEADY_ERROR, 0));
}
