/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/util.h"

/* Quantile of a gamma distribution with this shape, by Wilson and Hilferty. */
static double gamma_quantile(double shape, double z)
{
        double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

        return root > 0 ? shape * root * root * root : 0;
}

struct estimate estimate_of(struct sampled sampled, double z)
{
        double scale = sampled.unit * sampled.phi, n = sampled.value / scale;

        return (struct estimate){ .value = sampled.value, .low = n > 0 ? scale * gamma_quantile(n, -z) : 0,
                                  .high = scale * gamma_quantile(n + 1, z) };
}

struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z)
{
        struct estimate of_a = estimate_of(a, z), of_b = estimate_of(b, z);
        double difference = a.value - factor * b.value;

        return (struct estimate){
                .value = difference,
                .low = difference - hypot(of_a.value - of_a.low, factor * (of_b.high - of_b.value)),
                .high = difference + hypot(of_a.high - of_a.value, factor * (of_b.value - of_b.low)),
        };
}

double estimate_p(struct sampled a, struct sampled b)
{
        double low = 0, high = 38, middle;

        if (a.value == b.value)
                return 1;
        if (a.value < b.value)
                return estimate_p(b, a);
        for (int i = 0; i < 60; i++) {
                middle = (low + high) / 2;
                if (estimate_difference(a, b, 1, middle).low > 0)
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
