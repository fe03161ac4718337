/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "drop-shrink.h"
#include "util/util.h"

#define SCALES_MAX 64
#define SCALE_STEP M_SQRT2
#define SCALE_LEAST 0.25 /* smallest scale, as a part of the smallest error */
#define SCALE_MOST 2.0   /* largest scale, as a multiple of the largest estimate */
#define ROUNDS 200
#define BEFORE 1.0 /* weight of an even distribution over the scales, in apps, so that no scale gets weight 0 */
#define NORMAL_95 1.959964
#define TAIL 0.025
#define REACH 10.0 /* a quantile is searched for within so many errors */
#define HALVINGS 60

/* An app's estimate and its standard error: bounds of Student's t, taken for those of a normal distribution. */
struct estimate {
        struct drop *drop;
        double x, error;
};

struct prior {
        double scales[SCALES_MAX], weights[SCALES_MAX];
        size_t n;
};

static void find_scales(const struct estimate *list, size_t n, struct prior *prior)
{
        double least = INFINITY, most = 0;

        for (size_t i = 0; i < n; i++) {
                least = MIN(least, list[i].error);
                most = fmax(most, fmax(fabs(list[i].x), list[i].error));
        }
        prior->n = 0;
        for (double scale = SCALE_MOST * most; prior->n < SCALES_MAX; scale /= SCALE_STEP) {
                prior->scales[prior->n++] = scale;
                if (scale <= SCALE_LEAST * least)
                        break;
        }
        for (size_t k = 0; k < prior->n; k++)
                prior->weights[k] = 1 / (double)prior->n;
}

/* Likelihoods of the estimate under each scale, relative to the largest; @ret: room for prior->n. */
static void find_likelihoods(const struct estimate *estimate, const struct prior *prior, double *ret)
{
        double most = -INFINITY;

        for (size_t k = 0; k < prior->n; k++) {
                double variance = estimate->error * estimate->error + prior->scales[k] * prior->scales[k];

                ret[k] = -0.5 * (estimate->x * estimate->x / variance + log(variance));
                most = MAX(most, ret[k]);
        }
        for (size_t k = 0; k < prior->n; k++)
                ret[k] = exp(ret[k] - most);
}

/* The EM algorithm (Dempster, Laird and Rubin, 1977). @likelihoods: prior->n of each estimate. */
static void find_weights(const double *likelihoods, size_t n, struct prior *prior)
{
        for (int round = 0; round < ROUNDS; round++) {
                double apps[SCALES_MAX];

                for (size_t k = 0; k < prior->n; k++)
                        apps[k] = BEFORE / (double)prior->n;
                for (size_t i = 0; i < n; i++) {
                        const double *row = likelihoods + i * prior->n;
                        double sum = 0;

                        for (size_t k = 0; k < prior->n; k++)
                                sum += prior->weights[k] * row[k];
                        for (size_t k = 0; k < prior->n; k++)
                                apps[k] += prior->weights[k] * row[k] / sum;
                }
                for (size_t k = 0; k < prior->n; k++)
                        prior->weights[k] = apps[k] / ((double)n + BEFORE);
        }
}

/* An app's minutes, by its estimate and by the prior: a mixture of normal distributions. */
struct posterior {
        double weights[SCALES_MAX], means[SCALES_MAX], errors[SCALES_MAX];
        size_t n;
        double mean;
};

static void find_posterior(const struct estimate *estimate, const double *likelihoods, const struct prior *prior,
                           struct posterior *ret)
{
        double sum = 0;

        ret->n = prior->n;
        ret->mean = 0;
        for (size_t k = 0; k < prior->n; k++)
                sum += prior->weights[k] * likelihoods[k];
        for (size_t k = 0; k < prior->n; k++) {
                double scale = prior->scales[k], deviation = hypot(estimate->error, scale), part = scale / deviation;

                ret->weights[k] = prior->weights[k] * likelihoods[k] / sum;
                ret->means[k] = part * part * estimate->x;
                ret->errors[k] = part * estimate->error;
                ret->mean += ret->weights[k] * ret->means[k];
        }
}

static double below(const struct posterior *posterior, double x)
{
        double sum = 0;

        for (size_t k = 0; k < posterior->n; k++)
                sum += posterior->weights[k] * erfc((posterior->means[k] - x) / posterior->errors[k] * M_SQRT1_2) / 2;
        return sum;
}

static double quantile(const struct posterior *posterior, const struct estimate *estimate, double p)
{
        double low = MIN(estimate->x, 0) - REACH * estimate->error, high = MAX(estimate->x, 0) + REACH *
                     estimate->error;

        for (int i = 0; i < HALVINGS; i++) {
                double middle = (low + high) / 2;

                *(below(posterior, middle) < p ? &low : &high) = middle;
        }
        return (low + high) / 2;
}

static void shrink(const struct estimate *estimate, const double *likelihoods, const struct prior *prior)
{
        struct posterior posterior;

        find_posterior(estimate, likelihoods, prior, &posterior);
        drop_set_minutes(posterior.mean, quantile(&posterior, estimate, TAIL),
                         quantile(&posterior, estimate, 1 - TAIL), estimate->drop);
}

int drop_shrink(struct drop *drops, size_t n)
{
        _cleanup_free_ struct estimate *list = calloc(n + 1, sizeof(*list));
        _cleanup_free_ double *likelihoods = NULL;
        struct prior prior;
        size_t kept = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                double error = (drops[i].minutes - drops[i].minutes_low) / NORMAL_95;

                if (drops[i].enough && error > 0)
                        list[kept++] = (struct estimate){ &drops[i], drops[i].minutes, error };
        }
        if (!kept)
                return 0;
        find_scales(list, kept, &prior);
        likelihoods = calloc(kept * prior.n, sizeof(*likelihoods));
        if (!likelihoods)
                return -ENOMEM;
        for (size_t i = 0; i < kept; i++)
                find_likelihoods(&list[i], &prior, likelihoods + i * prior.n);
        find_weights(likelihoods, kept, &prior);
        for (size_t i = 0; i < kept; i++)
                shrink(&list[i], likelihoods + i * prior.n, &prior);
        return 0;
}
