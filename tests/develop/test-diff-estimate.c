/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Do the intervals of sums of samples hold, whatever values samples have? The samples are drawn from a seed: the
 * answer is always the same.
 */

#include "estimate.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "util/util.h"

#define DRAWS 3000
#define LOW 93.0 /* % of the intervals that must have the true value in them */
#define HIGH 98.0
#define LEVEL 0.002 /* the level that Holm's method requires of the first of 25 tasks */

static unsigned short seed[3];

static double uniform(void)
{
        return 1 - erand48(seed);
}

static double alike(void)
{
        return 1;
}

static double exponential(void)
{
        return -log(uniform());
}

static double lognormal(void)
{
        double radius = sqrt(-2 * log(uniform()));

        return exp(radius * cos(2 * M_PI * uniform()));
}

static double few_large(void)
{
        return uniform() < 0.9 ? 1 : 20;
}

static double three_kinds(void)
{
        double kind = uniform();

        return (kind < 0.5 ? 1 : kind < 0.8 ? 3 : 10) * (0.7 + 0.6 * uniform());
}

/* Distributions of a sample's value: how it is drawn, its mean, and the mean of its square. */
static const struct weights {
        const char *name;
        double (*draw)(void);
        double mean, square;
} all_weights[] = {
        { "alike", alike, 1, 1 },
        { "exponential", exponential, 1, 2 },
        { "lognormal", lognormal, 1.6487212707001282, 7.38905609893065 },
        { "1 or 20", few_large, 2.9, 40.9 },
        { "about 1, 3 or 10", three_kinds, 3.4, 23.2 * 1.03 },
};

/* Draws a sum of @mean samples on average. */
static struct sampled draw(const struct weights *weights, double mean, double scale)
{
        struct sampled sum = { .unit = scale, .largest = scale, .spread = { 1, INFINITY } };
        double square = 0;

        for (double at = exponential(); at < mean; at += exponential()) {
                double one = scale * weights->draw();

                sum.value += one;
                square += one * one;
                sum.largest = fmax(sum.largest, one);
        }
        if (square > 0)
                sum.unit = square / sum.value;
        return sum;
}

static bool holds(struct estimate estimate, double truth)
{
        return estimate.low <= truth && truth <= estimate.high;
}

static void check_share(const char *what, const struct weights *weights, double samples, int hits)
{
        double share = 100.0 * hits / DRAWS;

        if (!(share >= LOW && share <= HIGH))
                fprintf(stderr, "%s, %s, %g samples: %.2f %%\n", what, weights->name, samples, share);
        check(share >= LOW && share <= HIGH);
}

/* @samples: number of equal samples that the drawn ones are worth. */
static void coverage(const struct weights *weights, double samples)
{
        double mean = samples * weights->square / (weights->mean * weights->mean);
        int of_values = 0, of_differences = 0;

        for (int i = 0; i < DRAWS; i++) {
                double more = 1 + i % 2, scale = 0.5 * (1 << i % 3);
                struct sampled a = draw(weights, mean, 1), b = draw(weights, mean * more, scale);

                of_values += holds(estimate_of(a, ESTIMATE_Z), mean * weights->mean);
                of_differences += holds(estimate_difference(a, b, 1, ESTIMATE_Z),
                                        mean * weights->mean * (1 - more * scale));
        }
        check_share("values", weights, samples, of_values);
        check_share("differences", weights, samples, of_differences);
}

/* Compares a task of @mean samples of any value with itself: also where one side missed all the large ones. */
static void same(const struct weights *weights, double mean)
{
        int differ = 0;

        for (int i = 0; i < DRAWS; i++) {
                struct sampled a = draw(weights, mean, 1), b = draw(weights, mean, 1);

                differ += fmax(a.value / a.unit, b.value / b.unit) >= 10 && estimate_p(a, b, 1) < LEVEL;
        }
        if (differ > 2 * LEVEL * DRAWS)
                fprintf(stderr, "%s, %g samples: %d of %d differ\n", weights->name, mean, differ, DRAWS);
        check(differ <= 2 * LEVEL * DRAWS);
}

/*
 * Where samples are alike the interval is Garwood's: halves of quantiles of chi-square with 2 n and 2 n + 2
 * degrees of freedom.
 */
static void alike_is_garwood(void)
{
        static const struct {
                double n, low, high;
        } known[] = { { 1, 0.0253, 5.5716 }, { 10, 4.7954, 18.3904 }, { 100, 81.3640, 121.6273 } };

        for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
                struct sampled sampled = { 3 * known[i].n, 3, 3, { 1, INFINITY } };
                struct estimate got = estimate_of(sampled, ESTIMATE_Z);

                check_near(got.low, 3 * known[i].low, 0.05);
                check_near(got.high, 3 * known[i].high, 0.05);
        }
        check_near(estimate_of((struct sampled){ 0, 2, 2, { 1, INFINITY } }, ESTIMATE_Z).high, 2 * 3.6889, 0.05);
}

/* A larger sample among the same sum and squares leaves the lower bound, and raises the upper one. */
static void largest_counts(void)
{
        struct sampled plain = { 100, 5, 5, { 1, INFINITY } }, odd = { 100, 5, 15, { 1, INFINITY } };
        struct estimate of_plain = estimate_of(plain, ESTIMATE_Z), of_odd = estimate_of(odd, ESTIMATE_Z);

        check_near(of_odd.low, of_plain.low, 0);
        check(of_odd.high > of_plain.high + 10);
        check(estimate_p(odd, (struct sampled){ 180, 5, 5, { 1, INFINITY } }, 1) >
              estimate_p(plain, (struct sampled){ 180, 5, 5, { 1, INFINITY } }, 1));
}

/* A value that was counted without sampling has no error. */
static void exact(void)
{
        struct estimate got = estimate_of((struct sampled){ 100, 0, 0, { 1, INFINITY } }, ESTIMATE_Z);

        check(got.low == 100 && got.high == 100);
}

int main(void)
{
        static const double samples[] = { 10, 15, 30, 60 };

        alike_is_garwood();
        largest_counts();
        exact();
        for (size_t i = 0; i < ARRAY_SIZE(all_weights); i++)
                for (size_t j = 0; j < ARRAY_SIZE(samples); j++) {
                        coverage(&all_weights[i], samples[j]);
                        same(&all_weights[i], samples[j]);
                }
        return check_result();
}
