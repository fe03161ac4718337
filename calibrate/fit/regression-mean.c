/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The mean residual of the rows that are no outliers, and its standard deviation. A common error of the rows does not
 * show in a single row, where lasting background activity may explain it.
 */

#include <errno.h>
#include <math.h>

#include <gsl/gsl_blas.h>

#include "regression-private.h"
#include "util/util.h"

/* Adds the variance of the sum of one block's residuals under the noise model. */
static int add_block(const struct work *work, size_t from, size_t n, double *variance)
{
        _cleanup_matrix_ gsl_matrix *covariance = NULL, *shared = gsl_matrix_alloc(n, NOISE_SHARED_MAX);
        struct noise_link chain[BLOCK_ROWS];
        double usual[BLOCK_ROWS];
        ssize_t n_shared;

        if (!shared)
                return -ENOMEM;
        for (size_t a = 0; a < n; a++)
                usual[a] = !(work->fit->extra[from + a] > 0);
        n_shared = noise_chain_make(&work->fit->noise, work->rows, work->fit->index + from, n, work->power, NULL, chain,
                                   shared);
        if (n_shared >= 0) {
                *variance += noise_chain_variance(chain, n, usual);
                for (ssize_t m = 0; m < n_shared; m++) {
                        double sum = 0;

                        for (size_t a = 0; a < n; a++)
                                sum += usual[a] * gsl_matrix_get(shared, a, (size_t)m);
                        *variance += sum * sum;
                }
                return 0;
        }
        covariance = gsl_matrix_alloc(n, n);
        if (!covariance)
                return -ENOMEM;
        noise_covariance(&work->fit->noise, work->rows, work->fit->index + from, n, work->power, NULL,
                         covariance);
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        *variance += usual[a] * usual[b] * gsl_matrix_get(covariance, a, b);
        return 0;
}

/* The part of that which the coefficients take up: x' (X'C^-1 X + prior)^-1 x with x the sum of the rows. */
static int taken_up(const struct work *work, double *ret)
{
        _cleanup_vector_ gsl_vector *sum = gsl_vector_calloc(work->q), *weighed = gsl_vector_calloc(work->q);

        if (!sum || !weighed)
                return -ENOMEM;
        for (size_t a = 0; a < work->fit->n; a++) {
                gsl_vector_const_view x = gsl_matrix_const_row(work->x, a);

                if (!(work->fit->extra[a] > 0))
                        gsl_vector_add(sum, &x.vector);
        }
        gsl_blas_dgemv(CblasNoTrans, 1, work->inverse, sum, 0, weighed);
        gsl_blas_ddot(sum, weighed, ret);
        return 0;
}

int regression_mean(struct work *work)
{
        struct regression *fit = work->fit;
        double residual = 0, power = 0, variance = 0, coefficients = 0;
        size_t n = 0;
        int err = taken_up(work, &coefficients);

        for (size_t from = 0; !err && from < fit->n; from += BLOCK_ROWS)
                err = add_block(work, from, MIN(fit->n - from, (size_t)BLOCK_ROWS), &variance);
        if (err)
                return err;
        for (size_t a = 0; a < fit->n; a++) {
                if (fit->extra[a] > 0)
                        continue;
                residual += fit->residual_mw[a];
                power += work->power[fit->index[a]];
                n++;
        }
        fit->mean_residual = power > 0 ? residual / power : 0;
        fit->mean_sd = power > 0 ? sqrt(fmax(variance * fit->scale - coefficients, 0)) / power : INFINITY;
        return 0;
}
