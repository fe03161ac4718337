/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How many samples the values of a file are from, if it does not say so. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "util/util.h"

#define COUNT_MAX 1e7    /* samples of a run: 1000 a second for almost three hours */
#define WEIGHT_MIN 1e4   /* if no stack of a run has less, divided by the number of stacks, they have no counts */
#define DIVIDED_MIN 10   /* so many counts have a common divisor in less than 1 of 1000 programs */
#define MULTIPLES_CHANCE 1e-6 /* that rounded ones are multiples of a number by chance; less is taken as no chance */
#define SAMPLES_SMALLEST 5 /* most samples of the smallest of rounded weights */
#define SAMPLES_FEW 100  /* a divisor counts as a sample only if the smallest stack has fewer samples than this */

static double greatest_divisor(double a, double b)
{
        while (b > 0) {
                double rest = fmod(a, b);

                a = b;
                b = rest;
        }
        return a;
}

static int compare_values(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/*
 * The number of which all @values, which ascend, are multiples after rounding: 10.1 ms a sample make 10, 20, 30, 40,
 * 51. 0: there is none, or they may be multiples by chance.
 */
static double rounded_divisor(const double *values, size_t n)
{
        for (int first = 1; first <= SAMPLES_SMALLEST; first++) {
                double low = (values[0] - 0.5) / first, high = (values[0] + 0.5) / first, chance = 1;

                for (size_t i = 1; i < n && low <= high; i++) {
                        double divisor = (low + high) / 2, multiple = nearbyint(values[i] / divisor);
                        double near = 1 + multiple * (high - low); /* so many numbers of @divisor fit to a multiple */

                        if (near > divisor / 2)
                                break; /* neither this value nor the larger ones say more */
                        chance *= near / divisor;
                        low = fmax(low, (values[i] - 0.5) / multiple);
                        high = fmin(high, (values[i] + 0.5) / multiple);
                }
                if (low <= high && chance < MULTIPLES_CHANCE)
                        return (low + high) / 2;
        }
        return 0;
}

/*
 * Finds the number of samples of the last run where the file does not tell it. Time, energy and bytes are no counts,
 * and neither are numbers that are large, fractions, or many with a common divisor: among many stacks of a program
 * some have few samples. The value of a sample is the greatest common divisor, if the smallest value is few times
 * that. Else it is taken as the smallest value, which is only a guess (@uncounted). 0; -ENOMEM.
 */
int samples_find(struct read *read)
{
        struct stacks_run *run = &read->stacks->runs[read->stacks->n_runs - 1];
        _cleanup_free_ double *values = calloc(run->n + 1, sizeof(*values));
        double divisor = 0, total = stacks_total(run), rounded;
        size_t n = 0;

        if (!values)
                return -ENOMEM;
        if (!isnan(run->samples) || strcmp(read->unit, "instructions") == 0)
                return 0;
        for (size_t i = 0; i < run->n; i++) {
                double value = stacks_value(run, i);

                if (!(value > 0))
                        continue;
                divisor = value == floor(value) && !isnan(divisor) ? greatest_divisor(value, divisor) : NAN;
                values[n++] = value;
        }
        qsort(values, n, sizeof(*values), compare_values);
        rounded = rounded_divisor(values, n);
        if (strcmp(read->unit, "samples") == 0 && total < COUNT_MAX && values[0] < WEIGHT_MIN / (double)n &&
            rounded == 0 && (divisor == 1 || (divisor > 1 && n < DIVIDED_MIN)))
                return 0;
        if (!(divisor > 1 && values[0] / divisor < SAMPLES_FEW))
                divisor = rounded;
        run->uncounted = !(divisor > 0);
        run->samples = total / (run->uncounted ? values[0] : divisor);
        return 0;
}
