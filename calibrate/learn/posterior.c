/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "fit/regression.h"
#include "model/kind.h"
#include "posterior-private.h"
#include "spread.h"
#include "util/util.h"

/* A coefficient without a standard error may be off by this part. */
#define UNKNOWN_ERROR 0.5
/* Added to each, so that the covariance can be inverted. */
#define LEAST_ERROR 0.003
#define LEAST 1e-4
/* A gauge may bend more than one calibration shows, over that part of its range. */
#define CURVE_MORE 0.006

#define CHANGE_SD 0.5

#define ROUNDS 24        /* most linearisations; columns of an app's parts depend on the coefficients */
#define SCATTER_ROUNDS 3 /* number of these rounds in which the scatter is learnt */
#define SETTLED 0.05     /* largest change of a value, in standard deviations, after which the rounds end */

/* Rows with a larger residual, in standard deviations, get an additional variance of their own. */
#define OUTLIER 4.0

void posterior_clear(struct posterior *posterior)
{
        vector_freep(&posterior->value);
        matrix_freep(&posterior->covariance);
        matrix_freep(&posterior->white);
        vector_freep(&posterior->residual);
}

static void work_clear(struct work *work)
{
        matrix_freep(&work->prior);
        vector_freep(&work->prior_value);
        matrix_freep(&work->data);
        matrix_freep(&work->gram);
        matrix_freep(&work->ordered);
        vector_freep(&work->moment);
        vector_freep(&work->at);
        vector_freep(&work->data_moment);
        vector_freep(&work->y);
        free(work->free_sd);
        free(work->kind);
        free(work->order);
        free(work->outlier_j2);
        free(work->nonneg);
}

static int make(struct work *work)
{
        size_t n = work->design->n, p = work->design->p, q = work->design->q;
        struct posterior *posterior = work->posterior;

        posterior->value = gsl_vector_calloc(q);
        posterior->covariance = gsl_matrix_calloc(q, q);
        posterior->white = gsl_matrix_calloc(n, q);
        posterior->residual = gsl_vector_calloc(n);
        work->prior = p ? gsl_matrix_calloc(p, p) : NULL;
        work->prior_value = p ? gsl_vector_calloc(p) : NULL;
        work->data = gsl_matrix_calloc(q, q);
        work->gram = gsl_matrix_calloc(q, q);
        work->ordered = gsl_matrix_calloc(q, q);
        work->moment = gsl_vector_calloc(q);
        work->at = gsl_vector_calloc(q);
        work->data_moment = gsl_vector_calloc(q);
        work->y = gsl_vector_calloc(n);
        work->free_sd = calloc(q, sizeof(*work->free_sd));
        work->kind = calloc(q, sizeof(*work->kind));
        work->order = calloc(q, sizeof(*work->order));
        work->outlier_j2 = calloc(n, sizeof(*work->outlier_j2));
        work->nonneg = calloc(q, sizeof(*work->nonneg));
        if (p == 0)
                return -ENODATA;
        return posterior->value && posterior->covariance && posterior->white && posterior->residual && work->prior &&
               work->prior_value && work->data && work->gram && work->ordered && work->moment && work->at &&
               work->data_moment && work->y && work->free_sd && work->kind && work->order && work->outlier_j2 &&
               work->nonneg ? 0 : -ENOMEM;
}

/*
 * The calibration's covariance, and that of a scale common to all.
 */
static int make_prior(struct work *work, double scale_sd)
{
        const struct profile *profile = work->design->prior;
        size_t p = work->design->p;
        _cleanup_matrix_ gsl_matrix *covariance = gsl_matrix_calloc(p, p);

        if (!covariance)
                return -ENOMEM;
        for (size_t i = 0; i < p; i++) {
                const struct coefficient *a = &profile->coefficients[i];

                for (size_t j = 0; j < p; j++) {
                        const struct coefficient *b = &profile->coefficients[j];
                        double value = scale_sd * scale_sd, known = profile_covariance(profile, i, j);

                        value *= kind_is_ratio(a->term) || kind_is_ratio(b->term) ? 0 : a->value * b->value;
                        if (i == j)
                                value += a->term == TERM_CURVE ? CURVE_MORE * CURVE_MORE :
                                                                 pow(LEAST_ERROR * a->value, 2) + LEAST * LEAST;
                        if (isnan(known))
                                known = i == j ? pow(UNKNOWN_ERROR * a->value, 2) : 0;
                        gsl_matrix_set(covariance, i, j, value + known);
                }
                gsl_vector_set(work->prior_value, i, a->value);
                gsl_vector_set(work->posterior->value, i, a->value);
                work->nonneg[i] = a->term != TERM_CURVE;
        }
        /* An app's constant power is not negative: if it draws less than by its counters, that is a part of these. */
        for (size_t a = 0; a < work->design->n_apps; a++)
                for (size_t k = LEARNT_FRONT; k < LEARNT_COUNT; k++)
                        if (work->design->apps[a].column[k] != SIZE_MAX)
                                work->nonneg[work->design->apps[a].column[k]] = true;
        return algebra_invert(covariance, work->prior);
}

/* Finds the kind of each column (a kind has one standard deviation); sets that of columns without a kind. */
static void find_kinds(struct work *work)
{
        const struct design *design = work->design;

        for (size_t j = 0; j < design->q; j++)
                work->kind[j] = KIND_COUNT;
        for (size_t c = 0; c < DESIGN_COMMON; c++)
                work->kind[design->common + c] = KIND_COMMON + c;
        for (size_t a = 0; a < design->n_apps; a++)
                for (size_t k = 0; k < LEARNT_COUNT; k++)
                        if (design->apps[a].column[k] != SIZE_MAX)
                                work->kind[design->apps[a].column[k]] = KIND_APP + k;
        for (size_t s = 0; s < design->n_stretches; s++)
                work->kind[design->stretch_radio[s]] = KIND_RADIO;
        for (size_t k = 0; design->signal != SIZE_MAX && k < DESIGN_SIGNALS; k++)
                work->kind[design->signal + k] = KIND_SIGNAL;
        for (size_t i = 0; i < design->n; i++)
                if (design->rows[i].session != SIZE_MAX)
                        work->kind[design->rows[i].session] = KIND_SESSION;
        for (size_t c = 0; c < design->n_changes; c++)
                work->free_sd[design->change_column[c]] = CHANGE_SD;
        for (size_t j = design->waves; design->waves >= design->p && j < design->q; j++)
                work->free_sd[j] = regression_options_default.level_sd;
}

void posterior_set_kind(struct work *work, size_t kind, double sd)
{
        for (size_t j = work->design->p; j < work->design->q; j++)
                if (work->kind[j] == kind)
                        work->free_sd[j] = sd;
}

int posterior_whiten(struct work *work)
{
        const struct design *design = work->design;

        work->log_determinant = 0;
        gsl_matrix_memcpy(work->posterior->white, design->x);
        for (size_t first = 0, n; first < design->n; first += n) {
                gsl_matrix_view rows;
                gsl_vector_view y;
                int err;

                n = spread_stretch(design, first);
                {
                        _cleanup_matrix_ gsl_matrix *covariance = gsl_matrix_alloc(n, n);

                        if (!covariance)
                                return -ENOMEM;
                        spread_covariance(design, first, n, true, covariance);
                        for (size_t i = 0; i < n; i++)
                                *gsl_matrix_ptr(covariance, i, i) += work->outlier_j2[first + i];
                        err = gsl_linalg_cholesky_decomp1(covariance);
                        if (err)
                                return errno_from_gsl(err);
                        for (size_t i = 0; i < n; i++)
                                work->log_determinant += 2 * log(gsl_matrix_get(covariance, i, i));
                        rows = gsl_matrix_submatrix(work->posterior->white, first, 0, n, design->q);
                        y = gsl_vector_subvector(work->y, first, n);
                        for (size_t i = 0; i < n; i++)
                                gsl_vector_set(&y.vector, i, design->rows[first + i].energy_j);
                        gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, covariance, &rows.matrix);
                        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, covariance, &y.vector);
                }
        }
        gsl_blas_dsyrk(CblasLower, CblasTrans, 1, work->posterior->white, 0, work->data);
        gsl_matrix_transpose_tricpy(CblasLower, CblasUnit, work->data, work->data);
        gsl_blas_dgemv(CblasTrans, 1, work->posterior->white, work->y, 0, work->data_moment);
        return 0;
}

void posterior_gram(struct work *work)
{
        size_t p = work->design->p, q = work->design->q;
        gsl_vector_view moment = gsl_vector_subvector(work->moment, 0, p);
        gsl_matrix_view coefficients = gsl_matrix_submatrix(work->gram, 0, 0, p, p);

        gsl_matrix_memcpy(work->gram, work->data);
        gsl_matrix_scale(work->gram, 1 / work->posterior->scale);
        gsl_matrix_add(&coefficients.matrix, work->prior);
        for (size_t j = p; j < q; j++)
                *gsl_matrix_ptr(work->gram, j, j) += 1 / (work->free_sd[j] * work->free_sd[j]);
        gsl_vector_memcpy(work->moment, work->data_moment);
        gsl_vector_scale(work->moment, 1 / work->posterior->scale);
        gsl_blas_dgemv(CblasNoTrans, 1, work->prior, work->prior_value, 1, &moment.vector);
}

/* @moved: largest distance of a value, in standard deviations, from where the rows were linearised. */
static int solve(struct work *work, double *moved)
{
        struct posterior *posterior = work->posterior;
        int err;

        posterior_gram(work);
        err = algebra_nnls(work->gram, work->moment, work->nonneg, posterior->value);
        if (!err)
                err = algebra_invert(work->gram, posterior->covariance);
        *moved = 0;
        for (size_t j = 0; !err && j < work->design->q; j++)
                *moved = fmax(*moved, fabs(gsl_vector_get(posterior->value, j) - gsl_vector_get(work->at, j)) /
                                              sqrt(gsl_matrix_get(posterior->covariance, j, j)));
        return err;
}

/* How much of a column's value the rows determined, and not its prior. */
static double determined(const struct work *work, size_t column)
{
        double sd = work->free_sd[column];

        return fmax(1 - gsl_matrix_get(work->posterior->covariance, column, column) / (sd * sd), 0);
}

/* Number of values that the rows determined: q less the trace of covariance times prior information. */
static double effective_parameters(const struct work *work)
{
        size_t p = work->design->p;
        double trace = (double)p;

        for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < p; j++)
                        trace -= gsl_matrix_get(work->posterior->covariance, i, j) * gsl_matrix_get(work->prior, i, j);
        for (size_t j = p; j < work->design->q; j++)
                trace += determined(work, j);
        return fmax(trace, 0);
}

/* Variance of the rows relative to the expected one: scaled inverse chi square (Gelman and others, 1995). */
static void learn_scale(struct work *work)
{
        double belief = regression_options_default.prior_dof, chi2, dof;

        gsl_vector_memcpy(work->posterior->residual, work->y);
        gsl_blas_dgemv(CblasNoTrans, -1, work->posterior->white, work->posterior->value, 1, work->posterior->residual);
        gsl_blas_ddot(work->posterior->residual, work->posterior->residual, &chi2);
        dof = fmax((double)work->design->n - effective_parameters(work), 0);
        work->posterior->scale = fmax((belief + chi2) / (belief + dof), 1);
        if (!work->design->metered) /* how unequal percents are takes its place */
                work->posterior->scale = 1;
        work->posterior->degrees_of_freedom = belief + dof;
}

static void find_outliers(struct work *work)
{
        double sd = sqrt(work->posterior->scale);

        for (size_t i = 0; i < work->design->n; i++) {
                double z = fabs(gsl_vector_get(work->posterior->residual, i)) / sd;
                const struct design_row *row = &work->design->rows[i];

                if (z > OUTLIER)
                        work->outlier_j2[i] = pow(z / OUTLIER, 2) * pow(0.03 * row->energy_j, 2);
        }
}

/* How far the coefficients are from their calibration, in its standard deviations squared. */
static int prior_distance(const struct work *work, double *ret)
{
        size_t p = work->design->p;
        gsl_vector_const_view value = gsl_vector_const_subvector(work->posterior->value, 0, p);
        _cleanup_vector_ gsl_vector *off = gsl_vector_alloc(p), *weighed = gsl_vector_alloc(p);

        if (!off || !weighed)
                return -ENOMEM;
        gsl_vector_memcpy(off, &value.vector);
        gsl_vector_sub(off, work->prior_value);
        gsl_blas_dgemv(CblasNoTrans, 1, work->prior, off, 0, weighed);
        gsl_blas_ddot(off, weighed, ret);
        return 0;
}

/* MacKay 1992, equation 4.1 with the rows' covariance, without terms that are the same in each fit of these rows. */
static int learn_evidence(struct work *work)
{
        double belief = regression_options_default.prior_dof, scale = work->posterior->scale, chi2, sum;
        int err = prior_distance(work, &sum);

        posterior_gram(work);
        if (!err && gsl_linalg_cholesky_decomp1(work->gram))
                err = -EDOM;
        if (err)
                return err;
        gsl_blas_ddot(work->posterior->residual, work->posterior->residual, &chi2);
        sum += (chi2 + belief) / scale + ((double)work->design->n + belief) * log(scale) + work->log_determinant;
        for (size_t j = 0; j < work->design->q; j++) {
                sum += 2 * log(gsl_matrix_get(work->gram, j, j));
                if (j >= work->design->p)
                        sum += 2 * log(work->free_sd[j]) +
                               pow(gsl_vector_get(work->posterior->value, j) / work->free_sd[j], 2);
        }
        for (size_t kind = 0; kind < KIND_COUNT; kind++) /* as in learn_difference() */
                sum -= 2 * posterior_log_prior(work, kind, *posterior_difference(work->posterior, kind));
        work->posterior->evidence = -sum / 2;
        return 0;
}

/*
 * Where a coefficient is hardly known, it and the apps' parts of it may take turns in explaining the same
 * energy, and the values swing for ever. Half way between two turns is where they meet.
 */
static void damp(struct work *work)
{
        gsl_vector_add(work->at, work->posterior->value);
        gsl_vector_scale(work->at, 0.5);
}

int posterior_make(struct design *design, double scale_sd, struct posterior *ret)
{
        struct posterior posterior = { .scale = 1 };
        struct work work = { .design = design, .posterior = &posterior };
        const struct scatter usual = design->scatter;
        double moved = INFINITY, last = INFINITY;
        int err = make(&work);

        if (!err) {
                find_kinds(&work);
                for (size_t kind = 0; kind < KIND_COUNT; kind++) {
                        *posterior_difference(&posterior, kind) = posterior_first_difference(kind);
                        posterior_set_kind(&work, kind, posterior_first_difference(kind));
                }
                err = make_prior(&work, scale_sd);
        }
        for (int round = 0; !err && round < ROUNDS && moved > SETTLED; round++) {
                if (moved < last / 2 || round < 2)
                        gsl_vector_memcpy(work.at, posterior.value);
                else
                        damp(&work);
                last = moved;
                err = design_fill(design, work.at->data);
                if (!err)
                        err = posterior_whiten(&work);
                if (!err && !usual.learnt && round < SCATTER_ROUNDS)
                        err = posterior_learn_scatter(&work, &usual);
                if (!err)
                        err = posterior_learn_differences(&work);
                if (!err)
                        err = solve(&work, &moved);
                if (!err) {
                        learn_scale(&work);
                        find_outliers(&work);
                }
        }
        design->scatter.learnt = true;
        if (!err)
                err = learn_evidence(&work);
        work_clear(&work);
        if (err)
                posterior_clear(&posterior);
        else
                *ret = posterior;
        return err;
}
