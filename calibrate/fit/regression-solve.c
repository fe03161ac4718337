/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Solves the weighted normal equations with no coefficient below 0. */


#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "regression-private.h"
#include "util/util.h"

/* The inverse of the rows' covariance by blocks: rows from..from+n-1 begin at column 0. */
static gsl_matrix_view noise_block(const struct work *work, size_t from)
{
        size_t n = MIN(work->fit->n - from, (size_t)BLOCK_ROWS);

        return gsl_matrix_submatrix(work->noise, from, 0, n, n);
}

static int regression_invert_noise(struct work *work)
{
        for (size_t from = 0; from < work->fit->n; from += BLOCK_ROWS) {
                gsl_matrix_view block = noise_block(work, from);
                int err;

                noise_covariance(&work->fit->noise, work->rows, work->fit->index + from, block.matrix.size1,
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
        gsl_vector_const_view column = gsl_matrix_const_row(block, b); /* symmetric */
        gsl_matrix_view rows = gsl_matrix_submatrix(work->white, from, 0, block->size1, work->q);
        gsl_vector_view to = gsl_matrix_column(&rows.matrix, j);

        gsl_blas_daxpy(x, &column.vector, &to.vector);
}

/* white := C^-1 X; a mode touches few columns */
static void regression_unnoise_columns(struct work *work)
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

/* A small ridge keeps untouched columns solvable; regression_rank() reports them. */
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

int regression_solve(struct work *work)
{
        int err = regression_invert_noise(work);

        if (err)
                return err;
        regression_unnoise_columns(work);
        information(work);
        gsl_blas_dgemv(CblasTrans, 1 / work->fit->scale, work->white, work->y, 0, work->moment);
        if (work->before)
                gsl_vector_add(work->moment, work->before_moment);
        return algebra_nnls(work->gram, work->moment, work->nonneg, work->fit->value);
}

/*
 * Number of parameters determined by the rows and not by the prior: the trace of the hat matrix (Hastie and
 * Tibshirani, Generalized Additive Models, 1990), inverse (gram - prior).
 */
double regression_effective_parameters(const struct work *work)
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
 * Each row relative to the prediction of all others: (R y)_i / R_ii with variance 1 / R_ii, where R = C^-1 - C^-1
 * X (X'C^-1 X + prior)^-1 X'C^-1 (Cook and Weisberg, Residuals and Influence in Regression, 1982; Martin 1992
 * for correlated rows). deletion[] is in mW here; regression_weigh() divides it by the expected deviation. A
 * row that alone determines a coefficient has R_ii near 0 and is never an outlier.
 */
double regression_judge(struct work *work)
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
                fit->deletion[a] =
                        work->precision[a] > 0 ? gsl_vector_get(work->ry, a) / work->precision[a] : 0;
        }
        return chi2;
}
