/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "portfolio-usage.h"
#include "util/util.h"

/* Cost of an hour, as the percentage of the battery that is considered equal. */
#define HOUR_COST 3.0

/* Weight of apps relative to totals: a total has several apps, whose errors partly cancel. */
#define APP_WEIGHT 0.35

void portfolio_clear(struct portfolio *portfolio)
{
        matrix_freep(&portfolio->totals);
        matrix_freep(&portfolio->apps);
        free(portfolio->lost);
        portfolio->lost = NULL;
}

int portfolio_make(const struct columns *columns, const char *path, struct portfolio *ret)
{
        struct portfolio_usage usage = { 0 };
        struct portfolio portfolio = { 0 };
        int err;

        err = portfolio_usage_make(&columns->device, columns, path, &usage);
        if (err)
                return err;
        portfolio.totals = gsl_matrix_calloc(usage.n_totals, columns->n);
        portfolio.apps = gsl_matrix_calloc(usage.n_apps, columns->n);
        portfolio.lost = calloc(columns->n, sizeof(*portfolio.lost));
        if (!portfolio.totals || !portfolio.apps || !portfolio.lost) {
                portfolio_usage_clear(&usage);
                portfolio_clear(&portfolio);
                return -ENOMEM;
        }
        for (size_t i = 0; i < usage.n_totals; i++)
                columns_row(columns, &usage.totals[i], gsl_matrix_ptr(portfolio.totals, i, 0));
        for (size_t i = 0; i < usage.n_apps; i++)
                columns_row(columns, &usage.apps[i], gsl_matrix_ptr(portfolio.apps, i, 0));
        portfolio_usage_clear(&usage);
        *ret = portfolio;
        return 0;
}

/* v'b */
static double energy(const gsl_vector *v, const struct regression *fit)
{
        gsl_vector_const_view b = gsl_vector_const_subvector(fit->value, 0, fit->p);
        double sum;

        gsl_blas_ddot(v, &b.vector, &sum);
        return sum;
}

/* Copies row @i of totals or apps, without lost columns. */
static void ask(const struct portfolio *portfolio, const gsl_matrix *rows, size_t i, gsl_vector *to)
{
        for (size_t j = 0; j < rows->size2; j++)
                gsl_vector_set(to, j, portfolio->lost[j] ? 0 : gsl_matrix_get(rows, i, j));
}

/*
 * Covariance of the coefficients given the level's curve, C_bb - C_ba C_aa^-1 C_ab. The curve scales all
 * coefficients alike, and more rows hardly improve it. So its error is in the profile, but not in the
 * decision when to stop.
 */
static int given_level(const struct regression *fit, gsl_matrix **ret)
{
        size_t p = fit->p, z = fit->z;
        gsl_matrix_const_view cbb = gsl_matrix_const_submatrix(fit->covariance, 0, 0, p, p);
        _cleanup_matrix_ gsl_matrix *c = gsl_matrix_alloc(p, p);

        if (!c)
                return -ENOMEM;
        gsl_matrix_memcpy(c, &cbb.matrix);
        if (z > 0) {
                gsl_matrix_const_view cba = gsl_matrix_const_submatrix(fit->covariance, 0, p, p, z);
                gsl_matrix_const_view caa = gsl_matrix_const_submatrix(fit->covariance, p, p, z, z);
                _cleanup_matrix_ gsl_matrix *inverse = gsl_matrix_alloc(z, z),
                                            *product = gsl_matrix_alloc(p, z);
                int err = inverse && product ? algebra_invert(&caa.matrix, inverse) : -ENOMEM;

                if (err)
                        return err;
                gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, &cba.matrix, inverse, 0, product);
                gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1, product, &cba.matrix, 1, c);
        }
        *ret = TAKE_PTR(c);
        return 0;
}

/* v'Cv */
static int variance(const gsl_vector *v, const gsl_matrix *c, double *ret)
{
        _cleanup_vector_ gsl_vector *cv = gsl_vector_alloc(v->size);

        if (!cv)
                return -ENOMEM;
        gsl_blas_dgemv(CblasNoTrans, 1, c, v, 0, cv);
        gsl_blas_ddot(v, cv, ret);
        return 0;
}

double portfolio_half_width(const struct portfolio *portfolio, const struct regression *fit)
{
        size_t n = portfolio->totals->size1;
        _cleanup_free_ double *relative = calloc(n + 1, sizeof(*relative));
        _cleanup_vector_ gsl_vector *v = gsl_vector_alloc(fit->p);
        _cleanup_matrix_ gsl_matrix *c = NULL;

        if (!relative || !v || n == 0 || given_level(fit, &c) < 0 || !c)
                return NAN;
        for (size_t i = 0; i < n; i++) {
                double e, s2;

                ask(portfolio, portfolio->totals, i, v);
                e = energy(v, fit);
                if (variance(v, c, &s2) < 0 || !(e > 0) || !(s2 >= 0))
                        return NAN;
                relative[i] = hypot(sqrt(s2) / e, SCALE_PERCENT / 100);
        }
        gsl_sort(relative, 1, n);
        return 100 * gsl_cdf_tdist_Pinv(0.975, fmax(fit->degrees_of_freedom, 1)) *
               gsl_stats_quantile_from_sorted_data(relative, 1, n, 0.8);
}

/* Rows of the portfolio divided by their energy: relative variances. */
static int weighted(const struct portfolio *portfolio, const gsl_matrix *rows, double weight,
                    const struct regression *fit, gsl_matrix *to, size_t *at)
{
        gsl_matrix_view part;
        double most = 0;

        if (rows->size1 == 0)
                return -EDOM;
        part = gsl_matrix_submatrix(to, *at, 0, rows->size1, rows->size2);
        *at += rows->size1;
        for (size_t i = 0; i < rows->size1; i++) {
                gsl_vector_view row = gsl_matrix_row(&part.matrix, i);

                ask(portfolio, rows, i, &row.vector);
                most = fmax(most, energy(&row.vector, fit));
        }
        if (most <= 0)
                return -EDOM;
        for (size_t i = 0; i < rows->size1; i++) {
                gsl_vector_view row = gsl_matrix_row(&part.matrix, i);

                gsl_vector_scale(&row.vector, weight / fmax(energy(&row.vector, fit), 0.05 * most));
        }
        return 0;
}

/* V C for all p + z columns; V is 0 for the level's. */
static int sensitivity(const struct portfolio *portfolio, const struct regression *fit, gsl_matrix **ret)
{
        size_t n = portfolio->totals->size1 + portfolio->apps->size1, q = fit->p + fit->z, at = 0;
        _cleanup_matrix_ gsl_matrix *v = gsl_matrix_calloc(n, fit->p), *vc = gsl_matrix_alloc(n, q);
        gsl_matrix_const_view c = gsl_matrix_const_submatrix(fit->covariance, 0, 0, fit->p, q);
        int err;

        if (!v || !vc)
                return -ENOMEM;
        err = weighted(portfolio, portfolio->totals, 1, fit, v, &at);
        if (!err)
                err = weighted(portfolio, portfolio->apps, APP_WEIGHT, fit, v, &at);
        if (err)
                return err;
        gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, v, &c.matrix, 0, vc);
        *ret = TAKE_PTR(vc);
        return 0;
}

/*
 * Gain of a row x: with noise s^2 it lowers each v'Cv by (v'Cx)^2 / (s^2 + x'Cx) (Sherman and Morrison 1950),
 * here summed over all rows v of the portfolio and divided by its cost in time and charge.
 */
static double gain(const gsl_matrix *vc, const struct regression *fit, const double *x,
                   const struct step *step, gsl_vector *a, gsl_vector *work, gsl_vector *effect)
{
        double power = 0, seconds, percent, own, squares;

        for (size_t j = 0; j < fit->p; j++) {
                power += x[j] * gsl_vector_get(fit->value, j);
                gsl_vector_set(a, j, x[j]);
        }
        power = fmax(power, 1);
        seconds = step->dwell_s > 0 ? step->dwell_s : 1000 * step->percent_j / power;
        percent = power * seconds / 1000 / step->percent_j;
        if (fit->z > 0)
                regression_level_columns(step->level, power, gsl_vector_ptr(a, fit->p));
        gsl_blas_dgemv(CblasNoTrans, 1, fit->covariance, a, 0, work);
        gsl_blas_ddot(a, work, &own);
        gsl_blas_dgemv(CblasNoTrans, 1, vc, a, 0, effect);
        gsl_blas_ddot(effect, effect, &squares);
        own += fit->scale * noise_expected(&fit->noise, true, power, step->before_mw, seconds,
                                           step->refresh_s, 1);
        return squares / own / (percent + HOUR_COST * seconds / 3600);
}

ssize_t portfolio_next(const struct portfolio *portfolio, const struct regression *fit,
                       const struct candidate *candidates, size_t n, const struct step *step)
{
        size_t q = fit->p + fit->z;
        _cleanup_matrix_ gsl_matrix *vc = NULL;
        _cleanup_vector_ gsl_vector *a = gsl_vector_calloc(q), *work = gsl_vector_alloc(q);
        _cleanup_vector_ gsl_vector *effect = NULL;
        double most = 0;
        ssize_t best = -1;

        if (!a || !work || sensitivity(portfolio, fit, &vc) < 0 || !vc)
                return -1;
        effect = gsl_vector_alloc(vc->size1);
        for (size_t i = 0; effect && i < n; i++) {
                double worth;

                if (candidates[i].excluded)
                        continue;
                worth = gain(vc, fit, candidates[i].x, step, a, work, effect);
                if (worth > most) {
                        most = worth;
                        best = (ssize_t)i;
                }
        }
        return best;
}
