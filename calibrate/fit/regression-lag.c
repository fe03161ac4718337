/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Lag, in updates, of a gauge that shows an exponential mean. It is one more coefficient, whose column is the power
 * missing in each dwell (rows.c), with the step test's value as its prior. The rows are corrected by it and fitted
 * again until it does not change, so that all readers of a row see the power that the battery gave.
 */

#include <errno.h>
#include <math.h>

#include <gsl/gsl_blas.h>

#include "regression-private.h"
#include "util/util.h"

/* Error of the step test's value, relative to it; calibrate/METHOD.md. */
#define STEP_TEST_ERROR 0.1
#define ROUNDS 12
#define SETTLED 0.05 /* in standard errors */

/* @column_noise: C^-1 d; @with: X' C^-1 d */
static void project(struct work *work, gsl_vector *column, gsl_vector *column_noise, gsl_vector *with)
{
        const struct regression *fit = work->fit;

        for (size_t a = 0; a < fit->n; a++)
                gsl_vector_set(column, a, work->rows->list[fit->index[a]].lag_mw);
        regression_unnoise(work, column, column_noise);
        gsl_blas_dgemv(CblasTrans, 1, work->white, column, 0, with);
}

/* The other coefficients move along with it: Frisch and Waugh 1933. */
int regression_lag(struct work *work)
{
        struct regression *fit = work->fit;
        gsl_vector_const_view residual = gsl_vector_const_view_array(fit->residual_mw, fit->n);
        _cleanup_vector_ gsl_vector *column = NULL, *column_noise = NULL, *with = NULL, *moves = NULL;
        double prior, own, taken, score, information;

        fit->lag_step = fit->lag_sd = NAN;
        if (!(work->rows->lag_before > 0))
                return 0;
        column = gsl_vector_alloc(fit->n);
        column_noise = gsl_vector_alloc(fit->n);
        with = gsl_vector_alloc(work->q);
        moves = gsl_vector_alloc(work->q);
        if (!column || !column_noise || !with || !moves)
                return -ENOMEM;
        project(work, column, column_noise, with);
        gsl_blas_dgemv(CblasNoTrans, 1 / fit->scale, work->inverse, with, 0, moves);
        gsl_blas_ddot(column, column_noise, &own);
        gsl_blas_ddot(with, moves, &taken);
        gsl_blas_ddot(column_noise, &residual.vector, &score);
        prior = pow(STEP_TEST_ERROR * work->rows->lag_before, -2);
        information = fmax(own - taken, 0) / fit->scale + prior;
        fit->lag_step =
                -(score / fit->scale + prior * (work->rows->lag - work->rows->lag_before)) / information;
        fit->lag_sd = 1 / sqrt(information);
        gsl_blas_dger(fit->lag_sd * fit->lag_sd, moves, moves, fit->covariance);
        return 0;
}

int regression_fit(const struct columns *columns, struct rows *rows, const struct regression_options *options,
                   struct regression *ret)
{
        int err;

        if (rows->lag == 0)
                rows_set_lag(rows, rows->lag_before);
        for (int round = 0;; round++) {
                err = regression_fit_once(columns, rows, options, ret);
                if (err || isnan(ret->lag_step) || fabs(ret->lag_step) <= SETTLED * ret->lag_sd ||
                    round == ROUNDS)
                        return err;
                rows_set_lag(rows, fmax(rows->lag + ret->lag_step, 0));
                regression_clear(ret);
        }
}
