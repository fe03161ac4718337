/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Outliers: rows that the others contradict. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "regression-private.h"
#include "util/util.h"

/* In one iteration only rows this far off, relative to the worst, lose weight. */
#define WORST_FIRST 0.5

/* Variance of a row relative to what all others predict, without its outlier variance. */
static double deletion_variance(const struct work *work, size_t a)
{
        double variance = work->precision[a] > 0 ? 1 / work->precision[a] : INFINITY;

        return fmax(variance - work->fit->extra[a], 0.05 * variance);
}

/* Rows with less than this share of information besides the coefficients say little about the noise. */
#define REDUNDANT 0.1

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
                if (work->precision[a] > REDUNDANT * gsl_matrix_get(work->noise, a, a % BLOCK_ROWS))
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
                most = fmax(most, fabs(fit->deletion[a]));
        }
        for (size_t a = 0; a < fit->n; a++) {
                double z = fabs(fit->deletion[a]);

                if (z <= limit)
                        fit->extra[a] = 0;
                else if (z >= WORST_FIRST * most)
                        fit->extra[a] = deletion_variance(work, a) * (z * z / (limit * limit) - 1);
        }
}

/* Mean of rare tasks relative to their standard deviation, expected before any is seen. */
#define RARE_PART 0.27

/*
 * Outliers have one sign: background tasks take energy and never return it. What the weights removed belongs
 * to the base, which includes the usual background; so the mean of the rest is added there. A short run may
 * or may not see a rare task, which says little about its frequency: the mean counts as far as it is known,
 * and its error is added to the base's.
 */
int regression_recentre(struct work *work)
{
        struct regression *fit = work->fit;
        size_t base = work->columns->term[TERM_BASE];
        double *extra = fit->extra, ones = 0, rest = 0, trust;
        double rare = pow(RARE_PART * fit->noise.background_sd_mw, 2);
        _cleanup_free_ double *none = calloc(fit->n, sizeof(*none));
        int err;

        if (!none)
                return -ENOMEM;
        fit->extra = none;
        err = regression_invert_noise(work);
        fit->extra = extra;
        if (err)
                return err;
        regression_unnoise_columns(work);
        for (size_t a = 0; a < fit->n; a++) {
                double weight = gsl_matrix_get(work->white, a, base);

                ones += weight;
                rest += weight * fit->residual_mw[a];
        }
        trust = 1 / (1 + fit->scale / ones / rare);
        gsl_vector_set(fit->value, base, fmax(gsl_vector_get(fit->value, base) + trust * rest / ones, 0));
        *gsl_matrix_ptr(fit->covariance, base, base) += (1 - trust) * rare;
        return 0;
}
