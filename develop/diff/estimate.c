/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/util.h"

#define ROUNDING 1e-12

/* Quantile of a gamma distribution with this shape, by Wilson and Hilferty. */
static double gamma_quantile(double shape, double z)
{
        double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

        return root > 0 ? shape * root * root * root : 0;
}

/* Student's quantile at the level of a normal one, by Wallace (1959): exact within 4 % from 2 degrees of freedom up. */
static double student_quantile(double z, double df)
{
        double scaled = z * (8 * df + 3) / (8 * df + 1);

        return isinf(df) ? z : sqrt(df * expm1(scaled * scaled / df));
}

/* Quantile of a gamma distribution with this mean and variance. */
static double gamma_of(double mean, double variance, double z)
{
        return variance > 0 ? variance / mean * gamma_quantile(mean * mean / variance, z) : mean;
}

static double variance_of(struct sampled sampled)
{
        return sampled.value * sampled.unit * sampled.spread.phi;
}

static double low_of(struct sampled sampled, double quantile)
{
        if (isinf(sampled.spread.phi))
                return 0;
        return gamma_of(sampled.value, variance_of(sampled), -quantile);
}

static double high_of(struct sampled sampled, double quantile)
{
        if (isinf(sampled.spread.phi))
                return INFINITY;
        double another = sampled.spread.phi * (isinf(sampled.spread.df) ? sampled.largest : sampled.unit);

        return gamma_of(sampled.value + another, variance_of(sampled) + another * another, quantile);
}

struct estimate estimate_of(struct sampled sampled, double z)
{
        double quantile = student_quantile(z, sampled.spread.df);

        return (struct estimate){ .value = sampled.value,
                                  .low = low_of(sampled, quantile),
                                  .high = high_of(sampled, quantile) };
}

/*
 * Degrees of freedom of a - factor * b, whose variance is the sum of two estimates (Welch and Satterthwaite).
 * A side of 0 counts as one sample.
 */
static double welch(struct sampled a, struct sampled b, double factor)
{
        if (isinf(a.spread.phi) || isinf(b.spread.phi))
                return INFINITY;
        double of_a = a.unit * a.spread.phi * fmax(a.value, a.unit);
        double of_b = factor * factor * b.unit * b.spread.phi * fmax(b.value, b.unit);
        double uncertain = of_a * of_a / a.spread.df + of_b * of_b / b.spread.df;

        return uncertain > 0 ? (of_a + of_b) * (of_a + of_b) / uncertain : INFINITY;
}

/* a - b, or 0 if they differ by rounding only: callgrind's costs are sums of proportions. */
static double subtract(double a, double b)
{
        return fabs(a - b) <= ROUNDING * fmax(a, b) ? 0 : a - b;
}

static double difference_low(struct sampled a, struct sampled b, double factor, double quantile)
{
        return subtract(a.value, factor * b.value) -
               hypot(a.value - low_of(a, quantile), factor * (high_of(b, quantile) - b.value));
}

struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z)
{
        double quantile = student_quantile(z, welch(a, b, factor)), difference = subtract(a.value, factor * b.value);

        return (struct estimate){
                .value = difference,
                .low = difference_low(a, b, factor, quantile),
                .high = difference + hypot(high_of(a, quantile) - a.value, factor * (b.value - low_of(b, quantile))),
        };
}

double estimate_p(struct sampled a, struct sampled b, double factor)
{
        double low = 0, high = 38, middle, df = welch(a, b, factor);

        if (a.value == factor * b.value)
                return 1;
        if (a.value < factor * b.value)
                return estimate_p(b, a, 1 / factor);
        a.largest = b.largest = fmax(a.largest, b.largest);
        for (int i = 0; i < 60; i++) {
                middle = (low + high) / 2;
                if (difference_low(a, b, factor, student_quantile(middle, df)) > 0)
                        low = middle;
                else
                        high = middle;
        }
        return erfc(low / sqrt(2));
}

struct ranked {
        double p;
        size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->p != y->p)
                return x->p < y->p ? -1 : 1;
        return x->at < y->at ? -1 : 1;
}

int estimate_holm(double *p, size_t n)
{
        _cleanup_free_ struct ranked *ranked = calloc(n + 1, sizeof(*ranked));
        double before = 0;

        if (!ranked)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                ranked[i] = (struct ranked){ p[i], i };
        qsort(ranked, n, sizeof(*ranked), compare_ranked);
        for (size_t i = 0; i < n; i++) {
                before = MIN(1, MAX(before, ranked[i].p * (double)(n - i)));
                p[ranked[i].at] = before;
        }
        return 0;
}
