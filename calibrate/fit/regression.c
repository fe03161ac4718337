/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regression.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>

#include "observation/daemons.h"
#include "regression-private.h"
#include "util/util.h"

/*
 * Tuned on virtual devices (docs/accuracy.md); none of them is critical. Background: daemons
 * and rare tasks vary by an eighth of the power at rest. A step of the level is
 * wrong by 0.4 % besides the smooth curve; current sensors specify 1 % of the reading. Neighbouring operating
 * points deviate from a line by 3 to 6 % of the largest power in table 3 of AppScope and on real phones.
 * Level: three waves of 0.85 % each make a single percent wrong by 1.5 %.
 */
struct regression_options regression_options_default = {
        .noise = {
                .background_part = 0.13,
                .background_tau_s = DAEMONS_TAU_S,
                .background_hum = 0.6,
                .level_error = 0.004,
                .gauge_error = 0.01,
                .gauge_quantum_mw = 4,
                .model_error = 0.004,
        },
        .smooth_active = 0.045,
        .smooth_shared = 0.035,
        .smooth_display = 0.1,
        .looseness = 1,
        .level_sd = 0.0085,
        .outlier = 2.5,
        .prior_dof = 14,
};

#define ITERATIONS_MAX 25
#define CONVERGED 1e-4

static void work_clear(struct work *work)
{
        matrix_freep(&work->x);
        matrix_freep(&work->white);
        vector_freep(&work->y);
        vector_freep(&work->ry);
        matrix_freep(&work->noise);
        free(work->chain);
        matrix_freep(&work->shared);
        free(work->n_shared);
        matrix_freep(&work->gram);
        matrix_freep(&work->inverse);
        vector_freep(&work->moment);
        vector_freep(&work->last);
        free(work->power);
        free(work->precision);
        free(work->scratch);
        free(work->nonneg);
        free(work->bend_sd);
        matrix_freep(&work->before);
        vector_freep(&work->before_value);
        vector_freep(&work->before_moment);
}

static int work_make(struct work *work)
{
        size_t n = work->fit->n, q = work->q, block = MIN(n, (size_t)BLOCK_ROWS);

        work->x = gsl_matrix_calloc(n, q);
        work->white = gsl_matrix_alloc(n, q);
        work->y = gsl_vector_alloc(n);
        work->ry = gsl_vector_alloc(n);
        work->noise = gsl_matrix_alloc(n, block);
        work->chain = calloc(n, sizeof(*work->chain));
        work->shared = gsl_matrix_alloc(n, NOISE_SHARED_MAX);
        work->n_shared = calloc(n / BLOCK_ROWS + 1, sizeof(*work->n_shared));
        work->gram = gsl_matrix_alloc(q, q);
        work->inverse = gsl_matrix_alloc(q, q);
        work->moment = gsl_vector_alloc(q);
        work->last = gsl_vector_calloc(q);
        work->power = calloc(work->rows->n, sizeof(*work->power));
        work->precision = calloc(n, sizeof(*work->precision));
        work->scratch = calloc(n, sizeof(*work->scratch));
        work->nonneg = calloc(q, sizeof(*work->nonneg));
        work->bend_sd = calloc(q, sizeof(*work->bend_sd));
        return work->x && work->white && work->y && work->ry && work->noise && work->chain && work->shared &&
               work->n_shared && work->gram && work->inverse && work->moment && work->last && work->power &&
               work->precision && work->scratch && work->nonneg && work->bend_sd ? 0 : -ENOMEM;
}

void regression_clear(struct regression *regression)
{
        free(regression->index);
        free(regression->deletion);
        free(regression->residual_mw);
        free(regression->warming_mw);
        free(regression->extra);
        vector_freep(&regression->value);
        matrix_freep(&regression->covariance);
        matrix_freep(&regression->prior);
        *regression = (struct regression){ 0 };
}

static int regression_make(struct regression *fit, const struct rows *rows)
{
        size_t q = fit->p + fit->z;

        fit->index = calloc(rows->n, sizeof(*fit->index));
        fit->deletion = calloc(rows->n, sizeof(*fit->deletion));
        fit->residual_mw = calloc(rows->n, sizeof(*fit->residual_mw));
        fit->extra = calloc(rows->n, sizeof(*fit->extra));
        fit->warming_mw = calloc(rows->n, sizeof(*fit->warming_mw));
        fit->value = gsl_vector_calloc(q);
        fit->covariance = gsl_matrix_calloc(q, q);
        fit->prior = gsl_matrix_calloc(q, q);
        if (!fit->index || !fit->deletion || !fit->residual_mw || !fit->extra ||
            !fit->warming_mw || !fit->value || !fit->covariance || !fit->prior)
                return -ENOMEM;
        for (size_t i = 0; i < rows->n; i++)
                if (rows->list[i].fitted)
                        fit->index[fit->n++] = i;
        return fit->n > 0 ? 0 : -ENODATA;
}

void regression_level_columns(double level, double power_mw, double *to)
{
        for (size_t k = 0; k < LEVEL_WAVES; k++) {
                double angle = 2 * M_PI * (double)(k + 1) * level;

                /* y = x b / (1 + curve), which is nearly x b - (x b) curve. */
                to[2 * k] = -power_mw * cos(angle);
                to[2 * k + 1] = -power_mw * sin(angle);
        }
}

static void fill(struct work *work)
{
        struct regression *fit = work->fit;

        for (size_t a = 0; a < fit->n; a++) {
                const struct row *row = &work->rows->list[fit->index[a]];
                double *to = gsl_matrix_ptr(work->x, a, 0);

                memcpy(to, row->x, fit->p * sizeof(*to));
                if (fit->z > 0 && row->charge)
                        regression_level_columns(row->level, row->power_mw, to + fit->p);
        }
        for (size_t i = 0; i < work->rows->n; i++)
                work->power[i] = isfinite(work->rows->list[i].power_mw) ? work->rows->list[i].power_mw : 0;
        for (size_t j = 0; j < work->q; j++) {
                work->nonneg[j] = j < fit->p && !columns_kind_prior(work->columns, j);
                gsl_vector_set(fit->value, j, 1);
        }
}

/*
 * Mean effect of a late step of the level: it adds energy of the previous mode at the start and lacks this
 * mode's at the end.
 */
static double delay_mw(const struct work *work, size_t i)
{
        const struct row *row = &work->rows->list[i];

        if (!row->charge || !row->follows)
                return 0;
        return row->late_s * (work->power[i] - work->power[i - 1]) / row->seconds;
}

/*
 * The curve multiplies the model's power. If it multiplied the observed power, noise would be on both sides,
 * and each coefficient would come out low by 1 % for every 50 rows.
 */
static void bend(struct work *work)
{
        const struct regression *fit = work->fit;

        for (size_t a = 0; a < fit->n && fit->z > 0; a++) {
                const struct row *row = &work->rows->list[fit->index[a]];

                if (row->charge)
                        regression_level_columns(row->level, work->power[fit->index[a]],
                                                 gsl_matrix_ptr(work->x, a, fit->p));
        }
}

static void learn_power(struct work *work)
{
        for (size_t i = 0; i < work->rows->n; i++) {
                gsl_vector_const_view x = gsl_vector_const_view_array(work->rows->list[i].x, work->fit->p);
                gsl_vector_const_view b = gsl_vector_const_subvector(work->fit->value, 0, work->fit->p);

                if (work->rows->list[i].picture)
                        continue; /* unchanged, as the coefficients are for a white picture */
                gsl_blas_ddot(&x.vector, &b.vector, &work->power[i]);
        }
        bend(work);
}

static void observe(struct work *work)
{
        for (size_t a = 0; a < work->fit->n; a++) {
                size_t i = work->fit->index[a];

                gsl_vector_set(work->y, a,
                               work->rows->list[i].power_mw + delay_mw(work, i) + work->fit->warming_mw[i]);
        }
}

static double distance(const gsl_vector *a, const gsl_vector *b, size_t n)
{
        double most = 0, size = 0;

        for (size_t j = 0; j < n; j++) {
                most = fmax(most, fabs(gsl_vector_get(a, j) - gsl_vector_get(b, j)));
                size = fmax(size, fabs(gsl_vector_get(a, j)));
        }
        return size > 0 ? most / size : most;
}

/*
 * The coefficients determine the noise, the curvature and the outliers, and these give better coefficients;
 * repeated until they converge. The scale of the noise has a scaled inverse chi square prior (Gelman and
 * others, Bayesian Data Analysis), in which the expectation counts as prior_dof rows.
 */
static int iterate(struct work *work)
{
        struct regression *fit = work->fit;
        double chi2;
        int err;

        for (int round = 0; round < ITERATIONS_MAX; round++) {
                gsl_vector_memcpy(work->last, fit->value);
                observe(work);
                regression_prior_make(work, round == 0);
                err = regression_solve(work);
                if (!err)
                        err = algebra_invert(work->gram, work->inverse);
                if (err)
                        return err;
                chi2 = regression_judge(work);
                regression_weigh(work);
                regression_learn_level(work);
                fit->degrees_of_freedom = fmax((double)fit->n - regression_effective_parameters(work), 0);
                fit->scale = (work->options->prior_dof + chi2) /
                             (work->options->prior_dof + fit->degrees_of_freedom);
                learn_power(work);
                if (!work->options->as_used)
                        regression_warm(work);
                if (round > 1 && distance(fit->value, work->last, fit->p) < CONVERGED)
                        break;
        }
        fit->degrees_of_freedom += work->options->prior_dof;
        gsl_matrix_memcpy(fit->covariance, work->inverse);
        return regression_warm_error(work);
}

/* Before the first fit: mean power of the idle rows, or else the lowest power. */
static double power_at_rest_mw(const struct rows *rows)
{
        double sum = 0, least = INFINITY;
        size_t n = 0;

        for (size_t i = 0; i < rows->n; i++) {
                const struct row *row = &rows->list[i];

                if (!row->fitted)
                        continue;
                least = fmin(least, row->power_mw);
                if (strcmp(row->observation->kind, "idle") == 0) {
                        sum += row->power_mw;
                        n++;
                }
        }
        return n > 0 ? sum / (double)n : least;
}

/* Fewer rows do not show the quantum. */
#define QUANTUM_ROWS 16
#define ROUNDING 1e-6

static int ascending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/*
 * Finds the step to which the gauge rounds: sums of its updates are multiples of it, and among many rows two
 * differ by one step.
 */
static int learn_quantum(const struct rows *rows, struct noise *noise)
{
        _cleanup_free_ double *sum = calloc(rows->n + 1, sizeof(*sum));
        double least = INFINITY;
        size_t n = 0;

        if (!sum)
                return -ENOMEM;
        for (size_t i = 0; i < rows->n; i++)
                if (rows->list[i].fitted && !rows->list[i].charge)
                        sum[n++] = rows->list[i].observation->power_mw * rows->list[i].updates;
        qsort(sum, n, sizeof(*sum), ascending);
        for (size_t i = 1; i < n; i++)
                if (sum[i] - sum[i - 1] > ROUNDING * sum[i])
                        least = fmin(least, sum[i] - sum[i - 1]);
        if (n >= QUANTUM_ROWS && isfinite(least))
                noise->gauge_quantum_mw = least;
        return 0;
}

int regression_fit_once(const struct columns *columns, const struct rows *rows,
                        const struct regression_options *options, struct regression *ret)
{
        struct regression fit = { .p = columns->n, .scale = 1, .noise = options->noise,
                                  .as_used = options->as_used };
        struct work work = { .columns = columns, .rows = rows, .options = options, .fit = &fit,
                             .level_sd = options->level_sd };
        int err;

        for (size_t i = 0; i < rows->n; i++)
                if (rows->list[i].fitted && rows->list[i].charge)
                        fit.z = LEVEL_COLUMNS;
        work.q = fit.p + fit.z;
        err = regression_make(&fit, rows);
        fit.noise.scatter = fmax(fit.noise.scatter, rows->scatter);
        fit.noise.background_sd_mw = fit.noise.background_part * power_at_rest_mw(rows);
        if (!err)
                err = learn_quantum(rows, &fit.noise);
        if (!err)
                err = work_make(&work);
        if (!err)
                err = regression_before_make(&work);
        if (!err) {
                fill(&work);
                err = iterate(&work);
        }
        if (!err)
                err = regression_mean(&work);
        if (!err)
                err = regression_lag(&work);
        if (!err)
                err = regression_recentre(&work);
        if (!err)
                regression_before_keep(&work);
        work_clear(&work);
        if (err) {
                regression_clear(&fit);
                return err;
        }
        *ret = fit;
        return 0;
}

ssize_t regression_rank(const struct columns *columns, const struct rows *rows,
                        const struct regression *regression, gsl_matrix *null)
{
        size_t p = columns->n, n = regression->n;
        _cleanup_matrix_ gsl_matrix *all = gsl_matrix_calloc(n + p, p), *root = gsl_matrix_alloc(p, p);
        gsl_matrix_const_view prior = gsl_matrix_const_submatrix(regression->prior, 0, 0, p, p);

        if (!all || !root)
                return -ENOMEM;
        for (size_t a = 0; a < n; a++)
                memcpy(gsl_matrix_ptr(all, a, 0), rows->list[regression->index[a]].x, p * sizeof(double));
        /* Only the row space matters here, and the information matrix has the prior's. */
        gsl_matrix_memcpy(root, &prior.matrix);
        for (size_t i = 0; i < p; i++) {
                double d = gsl_matrix_get(root, i, i);

                for (size_t j = 0; j < p && d > 0; j++)
                        gsl_matrix_set(all, n + i, j, gsl_matrix_get(root, i, j) / d);
        }
        return algebra_rank(all, null);
}
