/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows that the others contradict. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "regression-private.h"
#include "util/util.h"

/* In one iteration, rows this far off, of the worst, lose weight. */
#define WORST_FIRST 0.5

/* Variance of a row against what all others say, without what was added to it as an outlier. */
static double deletion_variance(const struct work *work, size_t a)
{
        double variance = work->precision[a] > 0 ? 1 / work->precision[a] : INFINITY;

        return fmax(variance - work->fit->extra[a], 0.05 * variance);
}

/*
 * A row with less than this part of its own information free of the coefficients says little about the noise.
 */
#define REDUNDANT 0.1

/* Median of the square of a standard normal variable: of chi square with one degree of freedom. */
#define MEDIAN_SQUARE 0.4549

/*
 * The usual size of the noise, of what is expected, by the median of the rows, so that outliers do
 * not raise the bar for themselves; where few rows can tell, our belief counts. deletion[] holds
 * standard deviations as expected.
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
 * A row that stands further off than @outlier gets the variance that brings it there. That is one more power
 * than Huber's weights (1964): a level that jumps is not a little wrong, and must not pull at all. The worst
 * come first, since a bad row makes its good neighbours look bad.
 */
void weigh(struct work *work)
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

/* What daemons' rare tasks cost on average, of their standard deviation: our belief before we see any. */
#define RARE_PART 0.27

/*
 * Outliers pull one way: daemons that wake up cost, and nothing pays back. What the weights took from them
 * belongs to the base, which includes the usual daemons; so the mean of what is left goes there. A short run
 * sees a rare task or does not, which says little about how often it comes: the mean counts as far as it is
 * known, and what it may be off by stays in the base's error.
 */
int recentre(struct work *work)
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
        err = invert_noise(work);
        fit->extra = extra;
        if (err)
                return err;
        unnoise_columns(work);
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
