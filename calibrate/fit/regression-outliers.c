/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finds outliers, which are rows that the other rows contradict, and reduces their weight. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "regression-private.h"
#include "util/util.h"

/* In one iteration only rows this far off, relative to the worst, lose weight. */
#define WORST_FIRST 0.5

/* Variance of a row around the prediction of all others, without its outlier variance. */
static double deletion_variance(const struct work *work, size_t a)
{
        double variance = work->precision[a] > 0 ? 1 / work->precision[a] : INFINITY;

        return fmax(variance - work->fit->extra[a], 0.05 * variance);
}

/*
 * A row with less than this share of information beyond the coefficients shows little about the noise, and is no
 * outlier: the prior contradicts it, not other rows.
 */
#define REDUNDANT 0.1

static bool is_redundant(const struct work *work, size_t a)
{
        return work->precision[a] > REDUNDANT * regression_noise_diagonal(work, a);
}

/* Median of chi square with one degree of freedom. */
#define MEDIAN_SQUARE 0.4549

/*
 * The usual noise relative to the expected one, by the median of the rows, so that outliers do not raise the
 * threshold; with few rows the expectation counts. deletion[] is in expected standard deviations.
 */
static double usual_scale(const struct work *work, double *scratch)
{
        const struct regression *fit = work->fit;
        size_t n = 0;

        for (size_t a = 0; a < fit->n; a++)
                if (is_redundant(work, a))
                        scratch[n++] = fit->deletion[a] * fit->deletion[a];
        if (n == 0)
                return 1;
        gsl_sort(scratch, 1, n);
        return (work->options->prior_dof +
                (double)n * gsl_stats_median_from_sorted_data(scratch, 1, n) / MEDIAN_SQUARE) /
               (work->options->prior_dof + (double)n);
}

/*
 * A row beyond @outlier gets the variance that brings it there. This is one power more than Huber's weights
 * (1964): a jump of the level must not pull at all. The worst go first, because they make good neighbours
 * look bad.
 */
void regression_weigh(struct work *work)
{
        struct regression *fit = work->fit;
        double limit = work->options->outlier, most = 0, usual;

        for (size_t a = 0; a < fit->n; a++)
                fit->deletion[a] /= sqrt(deletion_variance(work, a));
        usual = sqrt(usual_scale(work, work->scratch));
        for (size_t a = 0; a < fit->n; a++) {
                fit->deletion[a] /= usual;
                if (fit->extra[a] > 0 || is_redundant(work, a))
                        most = fmax(most, fabs(fit->deletion[a]));
        }
        for (size_t a = 0; a < fit->n; a++) {
                double z = fabs(fit->deletion[a]);

                if (z <= limit)
                        fit->extra[a] = 0;
                else if (z >= WORST_FIRST * most && (fit->extra[a] > 0 || is_redundant(work, a)))
                        fit->extra[a] = deletion_variance(work, a) * (z * z / (limit * limit) - 1);
        }
}

/* Watched time that counts as much as the prior RARE_PART: the expected wait for one rare task. */
#define RARE_BELIEF_S 3600.0

/* Part of a row's residual that its reduced weight removed. */
static double removed_part(const struct work *work, size_t a)
{
        double variance = work->precision[a] > 0 ? 1 / work->precision[a] : INFINITY, extra = work->fit->extra[a];

        return isfinite(variance) && extra > 0 ? fmin(extra / variance, 1) : 0;
}

/*
 * Outliers have one sign: background tasks take energy and never return it. The part that the weights removed
 * belongs to the base, which includes the usual background, in proportion to the watched time. A run of half
 * an hour contains few rare tasks or none, which shows little about their frequency. Until more are seen, the
 * usual part is expected, and its error is added to that of the base.
 */
int regression_recentre(struct work *work)
{
        struct regression *fit = work->fit;
        size_t base = work->columns->term[TERM_BASE];
        double removed_j = 0, watched_s = 0, usual = RARE_PART * fit->noise.background_sd_mw, mean, belief;

        for (size_t a = 0; a < fit->n; a++) {
                double seconds = work->rows->list[fit->index[a]].seconds;

                watched_s += seconds;
                removed_j += removed_part(work, a) * fit->residual_mw[a] * seconds;
        }
        belief = RARE_BELIEF_S / (RARE_BELIEF_S + watched_s);
        mean = belief * usual + (1 - belief) * removed_j / watched_s;
        gsl_vector_set(fit->value, base, fmax(gsl_vector_get(fit->value, base) + mean, 0));
        *gsl_matrix_ptr(fit->covariance, base, base) += belief * usual * usual;
        return 0;
}
