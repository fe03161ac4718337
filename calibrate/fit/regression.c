/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regression.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "util.h"

/*
 * Found on virtual devices (docs/accuracy.md), on which none of them is critical. Daemons: 11 mW of steady hum and as
 * much again of rare tasks. A step of the level is off by 0.4 % beyond the smooth curve; 1 % of a reading is what
 * current sensors specify. Neighbouring operating points: table 3 of AppScope and real phones bend
 * by 3 to 6 % of the largest. Level: three waves of 0.85 % each make the 1.5 % of the simulation study.
 */
const struct regression_options regression_options_default = {
        .noise = {
                .background_sd_mw = 15,
                .background_tau_s = 300,
                .background_hum = 0.6,
                .level_error = 0.004,
                .gauge_error = 0.01,
                .gauge_quantum_mw = 4,
                .model_error = 0.004,
        },
        .smooth_active = 0.045,
        .smooth_shared = 0.035,
        .level_sd = 0.0085,
        .outlier = 2.5,
        .prior_dof = 14,
};

#define ITERATIONS_MAX 25
#define CONVERGED 1e-4

/* In one iteration, rows this far off, of the worst, lose weight. */
#define WORST_FIRST 0.5

/* The rows' covariance is inverted block by block: longer calibrations stay linear in time. */
#define BLOCK_ROWS 256

struct work {
        const struct columns *columns;
        const struct rows *rows;
        const struct regression_options *options;
        struct regression *fit;
        size_t q;               /* p + z */
        gsl_matrix *x;          /* n x q */
        gsl_matrix *noise;      /* C^-1 of the rows, block by block */
        gsl_matrix *white;      /* C^-1 X */
        gsl_vector *y;          /* n: observed power, delays of the level corrected */
        gsl_vector *ry;         /* n: C^-1 of the residuals */
        gsl_matrix *gram;       /* q x q */
        gsl_matrix *inverse;
        gsl_vector *moment;
        gsl_vector *last;       /* value of the iteration before */
        double *power;          /* of all rows: the best guess so far */
        double *precision;      /* n: diagonal of the projection (1 / deletion variance) */
        double *scratch;        /* n */
        bool *nonneg;
        double level_sd;        /* of each wave, as far as this gauge tells */
};

static void work_clear(struct work *work)
{
        matrix_freep(&work->x);
        matrix_freep(&work->white);
        vector_freep(&work->y);
        vector_freep(&work->ry);
        matrix_freep(&work->noise);
        matrix_freep(&work->gram);
        matrix_freep(&work->inverse);
        vector_freep(&work->moment);
        vector_freep(&work->last);
        free(work->power);
        free(work->precision);
        free(work->scratch);
        free(work->nonneg);
}

static int work_make(struct work *work)
{
        size_t n = work->fit->n, q = work->q, block = MIN(n, (size_t)BLOCK_ROWS);

        work->x = gsl_matrix_calloc(n, q);
        work->white = gsl_matrix_alloc(n, q);
        work->y = gsl_vector_alloc(n);
        work->ry = gsl_vector_alloc(n);
        work->noise = gsl_matrix_alloc(n, block);
        work->gram = gsl_matrix_alloc(q, q);
        work->inverse = gsl_matrix_alloc(q, q);
        work->moment = gsl_vector_alloc(q);
        work->last = gsl_vector_calloc(q);
        work->power = calloc(work->rows->n, sizeof(*work->power));
        work->precision = calloc(n, sizeof(*work->precision));
        work->scratch = calloc(n, sizeof(*work->scratch));
        work->nonneg = calloc(q, sizeof(*work->nonneg));
        return work->x && work->white && work->y && work->ry && work->noise && work->gram && work->inverse &&
               work->moment && work->last && work->power && work->precision && work->scratch && work->nonneg ?
               0 : -ENOMEM;
}

void regression_clear(struct regression *regression)
{
        free(regression->index);
        free(regression->deletion);
        free(regression->residual_mw);
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
        fit->value = gsl_vector_calloc(q);
        fit->covariance = gsl_matrix_calloc(q, q);
        fit->prior = gsl_matrix_calloc(q, q);
        if (!fit->index || !fit->deletion || !fit->residual_mw || !fit->extra || !fit->value || !fit->covariance ||
            !fit->prior)
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
                work->nonneg[j] = j < fit->p;
                gsl_vector_set(fit->value, j, 1);
        }
}

/* One row d of the prior: information += d d'. */
static void prior_add(gsl_matrix *prior, const size_t *at, const double *weight, size_t n)
{
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        *gsl_matrix_ptr(prior, at[a], at[b]) += weight[a] * weight[b];
}

/*
 * Second differences of neighbours @first..@first+n-1 are 0 with standard deviation @sd, on a grid that need not be
 * even: the second derivative times the square of the mean distance.
 */
static void prior_smooth(gsl_matrix *prior, const struct device_policy *policy, size_t first, double sd)
{
        size_t n = policy->n_khz;
        double mean = n > 1 ? (double)(policy->khz[n - 1] - policy->khz[0]) / (double)(n - 1) : 0;

        for (size_t k = 1; k + 1 < n; k++) {
                double before = (double)(policy->khz[k] - policy->khz[k - 1]) / mean;
                double after = (double)(policy->khz[k + 1] - policy->khz[k]) / mean;
                double weight = 2 / (before + after) / sd;
                size_t at[] = { first + k - 1, first + k, first + k + 1 };
                double row[] = { weight / before, -weight * (1 / before + 1 / after), weight / after };

                prior_add(prior, at, row, 3);
        }
}

static double largest(const gsl_vector *value, size_t first, size_t n)
{
        double most = 0;

        for (size_t k = 0; k < n; k++)
                most = fmax(most, gsl_vector_get(value, first + k));
        return most;
}

/* Before anything is fitted: a busy core cannot have cost more than all the power there was. */
static double largest_possible(const struct work *work, size_t first, size_t n)
{
        double most = 0;

        for (size_t a = 0; a < work->fit->n; a++)
                for (size_t k = 0; k < n; k++) {
                        double busy = gsl_matrix_get(work->x, a, first + k);

                        if (busy > 0.1)
                                most = fmax(most, work->rows->list[work->fit->index[a]].power_mw / fmax(busy, 1));
                }
        return most;
}

static void prior_make(struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        struct regression *fit = work->fit;
        double level = 1 / work->level_sd;

        gsl_matrix_set_zero(fit->prior);
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                size_t first = columns->active[i];
                double most;

                if (first == SIZE_MAX)
                        continue;
                most = first_time ? largest_possible(work, first, policy->n_khz)
                                  : largest(fit->value, first, policy->n_khz);
                if (most <= 0)
                        most = largest_possible(work, first, policy->n_khz);
                if (most <= 0)
                        continue;
                prior_smooth(fit->prior, policy, first, work->options->smooth_active * most);
                if (columns->shared[i] != SIZE_MAX)
                        prior_smooth(fit->prior, policy, columns->shared[i], work->options->smooth_shared * most);
        }
        for (size_t j = fit->p; j < work->q; j++)
                gsl_matrix_set(fit->prior, j, j, level * level);
}

/* Our belief in the usual size of a gauge's waves is worth so many waves that were seen. */
#define LEVEL_BELIEF 6

/* How large this gauge's waves are: what is seen of them, and what may still hide (expectation and maximisation). */
static void learn_level(struct work *work)
{
        double usual = work->options->level_sd, squares = LEVEL_BELIEF * usual * usual;

        for (size_t j = work->fit->p; j < work->q; j++) {
                double wave = gsl_vector_get(work->fit->value, j);

                squares += wave * wave + gsl_matrix_get(work->inverse, j, j);
        }
        work->level_sd = sqrt(squares / (double)(LEVEL_BELIEF + work->fit->z));
}

/* The mean of a level's delay: what the step came late by belongs to the mode before and after in equal measure. */
static double delay_mw(const struct work *work, size_t i)
{
        const struct row *row = &work->rows->list[i];

        if (!row->charge || !row->follows)
                return 0;
        return row->refresh_s / 2 * (work->power[i] - work->power[i - 1]) / row->seconds;
}

/*
 * The curve multiplies the power that the model says. Taking the observed one would put its noise on both sides: rows
 * would fit better the smaller all of it was made, and each coefficient came out low by 1 % for every 50 rows.
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

                gsl_blas_ddot(&x.vector, &b.vector, &work->power[i]);
        }
        bend(work);
}

static void observe(struct work *work)
{
        for (size_t a = 0; a < work->fit->n; a++) {
                size_t i = work->fit->index[a];

                gsl_vector_set(work->y, a, work->rows->list[i].power_mw + delay_mw(work, i));
        }
}

/* The inverse of the rows' covariance, block by block: block rows from..from+n-1 begin at column 0 of their rows. */
static gsl_matrix_view noise_block(const struct work *work, size_t from)
{
        size_t n = MIN(work->fit->n - from, (size_t)BLOCK_ROWS);

        return gsl_matrix_submatrix(work->noise, from, 0, n, n);
}

static int invert_noise(struct work *work)
{
        for (size_t from = 0; from < work->fit->n; from += BLOCK_ROWS) {
                gsl_matrix_view block = noise_block(work, from);
                int err;

                noise_covariance(&work->options->noise, work->rows, work->fit->index + from, block.matrix.size1,
                                 work->power, work->fit->extra + from, &block.matrix);
                err = gsl_linalg_cholesky_decomp1(&block.matrix);
                if (!err)
                        err = gsl_linalg_cholesky_invert(&block.matrix);
                if (err)
                        return errno_from_gsl(err);
        }
        return 0;
}

/* to := C^-1 from */
static void unnoise(const struct work *work, const gsl_vector *from, gsl_vector *to)
{
        for (size_t at = 0; at < work->fit->n; at += BLOCK_ROWS) {
                gsl_matrix_view block = noise_block(work, at);
                gsl_vector_const_view x = gsl_vector_const_subvector(from, at, block.matrix.size1);
                gsl_vector_view y = gsl_vector_subvector(to, at, block.matrix.size1);

                gsl_blas_dgemv(CblasNoTrans, 1, &block.matrix, &x.vector, 0, &y.vector);
        }
}

/* white[from..][j] += x C^-1[..][b], a column of the block's */
static void add_column(struct work *work, size_t from, const gsl_matrix *block, size_t b, size_t j, double x)
{
        gsl_vector_const_view column = gsl_matrix_const_row(block, b); /* it is symmetric */
        gsl_matrix_view rows = gsl_matrix_submatrix(work->white, from, 0, block->size1, work->q);
        gsl_vector_view to = gsl_matrix_column(&rows.matrix, j);

        gsl_blas_daxpy(x, &column.vector, &to.vector);
}

/* white := C^-1 X; a mode touches few columns. */
static void unnoise_columns(struct work *work)
{
        gsl_matrix_set_zero(work->white);
        for (size_t at = 0; at < work->fit->n; at += BLOCK_ROWS) {
                gsl_matrix_view block = noise_block(work, at);

                for (size_t b = 0; b < block.matrix.size1; b++)
                        for (size_t j = 0; j < work->q; j++) {
                                double x = gsl_matrix_get(work->x, at + b, j);

                                if (x != 0)
                                        add_column(work, at, &block.matrix, b, j, x);
                        }
        }
}

/* A breath of ridge: what the rows do not touch stays solvable here, and is flagged by regression_rank(). */
#define RIDGE 1e-10

/* gram := X'C^-1 X / scale + prior */
static void information(struct work *work)
{
        gsl_matrix_memcpy(work->gram, work->fit->prior);
        for (size_t a = 0; a < work->fit->n; a++) {
                gsl_vector_const_view white = gsl_matrix_const_row(work->white, a);

                for (size_t j = 0; j < work->q; j++) {
                        double x = gsl_matrix_get(work->x, a, j);
                        gsl_vector_view row = gsl_matrix_row(work->gram, j);

                        if (x != 0)
                                gsl_blas_daxpy(x / work->fit->scale, &white.vector, &row.vector);
                }
        }
        for (size_t j = 0; j < work->q; j++) {
                double *d = gsl_matrix_ptr(work->gram, j, j);

                *d += *d > 0 ? *d * RIDGE : RIDGE;
        }
}

static int solve(struct work *work)
{
        int err = invert_noise(work);

        if (err)
                return err;
        unnoise_columns(work);
        information(work);
        gsl_blas_dgemv(CblasTrans, 1 / work->fit->scale, work->white, work->y, 0, work->moment);
        return algebra_nnls(work->gram, work->moment, work->nonneg, work->fit->value);
}

/* Trace of the hat matrix: how many parameters the rows, not the prior, had to feed. */
static double effective_parameters(const struct work *work)
{
        double trace = 0;

        for (size_t i = 0; i < work->q; i++) {
                gsl_vector_const_view a = gsl_matrix_const_row(work->inverse, i);
                gsl_vector_const_view b = gsl_matrix_const_row(work->gram, i);
                gsl_vector_const_view c = gsl_matrix_const_row(work->fit->prior, i);
                double all, prior;

                gsl_blas_ddot(&a.vector, &b.vector, &all);
                gsl_blas_ddot(&a.vector, &c.vector, &prior);
                trace += all - prior;
        }
        return trace;
}

/*
 * Each row against what all others say: deletion_i = (R y)_i / sqrt(R_ii) with R = C^-1 - C^-1 X (X'C^-1 X + prior)^-1
 * X'C^-1. A row on which a coefficient hangs alone has R_ii near 0 and is never an outlier.
 */
static double judge(struct work *work)
{
        struct regression *fit = work->fit;
        gsl_vector_view residual = gsl_vector_view_array(fit->residual_mw, fit->n);
        double chi2;

        gsl_vector_memcpy(&residual.vector, work->y);
        gsl_blas_dgemv(CblasNoTrans, -1, work->x, fit->value, 1, &residual.vector);
        unnoise(work, &residual.vector, work->ry);
        gsl_blas_ddot(work->ry, &residual.vector, &chi2);
        for (size_t a = 0; a < fit->n; a++) {
                gsl_vector_const_view x = gsl_matrix_const_row(work->white, a);
                double leverage;

                gsl_blas_dgemv(CblasNoTrans, 1 / fit->scale, work->inverse, &x.vector, 0, work->moment);
                gsl_blas_ddot(&x.vector, work->moment, &leverage);
                work->precision[a] = gsl_matrix_get(work->noise, a, a % BLOCK_ROWS) - leverage;
                fit->deletion[a] = work->precision[a] > 0 ? gsl_vector_get(work->ry, a) / work->precision[a] : 0;
        }
        return chi2;
}

/* Variance of a row against what all others say, without what was added to it as an outlier. */
static double deletion_variance(const struct work *work, size_t a)
{
        double variance = work->precision[a] > 0 ? 1 / work->precision[a] : INFINITY;

        return fmax(variance - work->fit->extra[a], 0.05 * variance);
}

/* A row with less than this part of its own information free of the coefficients says little about the noise. */
#define REDUNDANT 0.1

/* Median of the square of a standard normal variable. */
#define MEDIAN_SQUARE 0.4549

/*
 * The usual size of the noise, of what is expected, by the median of the rows, so that outliers do not raise the bar
 * for themselves; where few rows can tell, our belief counts. deletion[] holds standard deviations as expected.
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
        return (work->options->prior_dof + (double)n * gsl_stats_median_from_sorted_data(scratch, 1, n) / MEDIAN_SQUARE) /
               (work->options->prior_dof + (double)n);
}

/*
 * A row that stands further off than @outlier gets the variance that brings it there. That is one more power than
 * Huber's weights: a level that jumps is not a little wrong, and must not pull at all. The worst come first, since a
 * bad row makes its good neighbours look bad.
 */
static void weigh(struct work *work)
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

static double distance(const gsl_vector *a, const gsl_vector *b, size_t n)
{
        double most = 0, size = 0;

        for (size_t j = 0; j < n; j++) {
                most = fmax(most, fabs(gsl_vector_get(a, j) - gsl_vector_get(b, j)));
                size = fmax(size, fabs(gsl_vector_get(a, j)));
        }
        return size > 0 ? most / size : most;
}

static int iterate(struct work *work)
{
        struct regression *fit = work->fit;
        double chi2;
        int err;

        for (int round = 0; round < ITERATIONS_MAX; round++) {
                gsl_vector_memcpy(work->last, fit->value);
                observe(work);
                prior_make(work, round == 0);
                err = solve(work);
                if (!err)
                        err = algebra_invert(work->gram, work->inverse);
                if (err)
                        return err;
                chi2 = judge(work);
                weigh(work);
                learn_level(work);
                fit->degrees_of_freedom = fmax((double)fit->n - effective_parameters(work), 0);
                fit->scale = (work->options->prior_dof + chi2) / (work->options->prior_dof + fit->degrees_of_freedom);
                learn_power(work);
                if (round > 1 && distance(fit->value, work->last, fit->p) < CONVERGED)
                        break;
        }
        fit->degrees_of_freedom += work->options->prior_dof;
        gsl_matrix_memcpy(fit->covariance, work->inverse);
        return 0;
}

/* What rare tasks of daemons cost on average, mW: how much we believe before we see any. */
#define RARE_MW 4.0

/*
 * Outliers pull one way: daemons that wake up cost, and nothing pays back. What the weights took from them belongs to
 * the base, which includes the usual daemons; so the mean of what is left goes there. A short run sees a rare task or
 * does not, which says little about how often it comes: the mean counts as far as it is known, and what it may be off
 * by stays in the base's error.
 */
static int recentre(struct work *work)
{
        struct regression *fit = work->fit;
        size_t base = work->columns->term[TERM_BASE];
        double *extra = fit->extra, ones = 0, rest = 0, trust;
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
        trust = 1 / (1 + fit->scale / ones / (RARE_MW * RARE_MW));
        gsl_vector_set(fit->value, base, fmax(gsl_vector_get(fit->value, base) + trust * rest / ones, 0));
        *gsl_matrix_ptr(fit->covariance, base, base) += (1 - trust) * RARE_MW * RARE_MW;
        return 0;
}

int regression_fit(const struct columns *columns, const struct rows *rows, const struct regression_options *options,
                   struct regression *ret)
{
        struct regression fit = { .p = columns->n, .scale = 1 };
        struct work work = { .columns = columns, .rows = rows, .options = options, .fit = &fit,
                             .level_sd = options->level_sd };
        int err;

        for (size_t i = 0; i < rows->n; i++)
                if (rows->list[i].fitted && rows->list[i].charge)
                        fit.z = LEVEL_COLUMNS;
        work.q = fit.p + fit.z;
        err = regression_make(&fit, rows);
        if (!err)
                err = work_make(&work);
        if (!err) {
                fill(&work);
                err = iterate(&work);
        }
        if (!err)
                err = recentre(&work);
        work_clear(&work);
        if (err) {
                regression_clear(&fit);
                return err;
        }
        *ret = fit;
        return 0;
}

ssize_t regression_rank(const struct columns *columns, const struct rows *rows, const struct regression *regression,
                        gsl_matrix *null)
{
        size_t p = columns->n, n = regression->n;
        _cleanup_matrix_ gsl_matrix *all = gsl_matrix_calloc(n + p, p), *root = gsl_matrix_alloc(p, p);
        gsl_matrix_const_view prior = gsl_matrix_const_submatrix(regression->prior, 0, 0, p, p);

        if (!all || !root)
                return -ENOMEM;
        for (size_t a = 0; a < n; a++)
                memcpy(gsl_matrix_ptr(all, a, 0), rows->list[regression->index[a]].x, p * sizeof(double));
        /* Only the prior's reach counts here: its information matrix has the row space of its rows. */
        gsl_matrix_memcpy(root, &prior.matrix);
        for (size_t i = 0; i < p; i++) {
                double d = gsl_matrix_get(root, i, i);

                for (size_t j = 0; j < p && d > 0; j++)
                        gsl_matrix_set(all, n + i, j, gsl_matrix_get(root, i, j) / d);
        }
        return algebra_rank(all, null);
}
