/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The inverse of the rows' covariance, C^-1, by blocks: as a chain where it is one, else as a matrix. */

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "regression-private.h"
#include "util/util.h"

/* Rows from..from+n-1 of the inverse begin at column 0. */
static gsl_matrix_view noise_block(const struct work *work, size_t from)
{
        size_t n = MIN(work->fit->n - from, (size_t)BLOCK_ROWS);

        return gsl_matrix_submatrix(work->noise, from, 0, n, n);
}

static bool is_chain(const struct work *work, size_t from)
{
        return work->n_shared[from / BLOCK_ROWS] >= 0;
}

/* Y of a chain, by which its inverse is C^-1 - YY' (Woodbury 1950). False: no row of a mode shares an error. */
static bool shared_of(const struct work *work, size_t from, gsl_matrix_view *ret)
{
        ssize_t n = work->n_shared[from / BLOCK_ROWS];
        size_t at = from / BLOCK_ROWS * BLOCK_ROWS;

        if (n > 0)
                *ret = gsl_matrix_submatrix(work->shared, at, 0, MIN(work->fit->n - at, (size_t)BLOCK_ROWS),
                                            (size_t)n);
        return n > 0;
}

/* W becomes Y = C^-1 W G'^-1 with GG' = 1 + W'C^-1 W. */
static int share_errors(struct work *work, size_t from)
{
        double numbers[NOISE_SHARED_MAX * NOISE_SHARED_MAX];
        gsl_matrix_view w, inner;
        gsl_vector_view solved;
        size_t n, columns;
        int err;

        if (!shared_of(work, from, &w))
                return 0;
        n = w.matrix.size1;
        columns = w.matrix.size2;
        inner = gsl_matrix_view_array(numbers, columns, columns);
        solved = gsl_vector_view_array(work->scratch, n);
        for (size_t c = 0; c < columns; c++) {
                gsl_vector_view row = gsl_matrix_row(&inner.matrix, c);

                gsl_matrix_get_col(&solved.vector, &w.matrix, c);
                noise_chain_solve(work->chain + from, n, work->scratch, 1);
                gsl_blas_dgemv(CblasTrans, 1, &w.matrix, &solved.vector, 0, &row.vector);
                *gsl_matrix_ptr(&inner.matrix, c, c) += 1;
        }
        err = gsl_linalg_cholesky_decomp1(&inner.matrix);
        if (err)
                return errno_from_gsl(err);
        for (size_t c = 0; c < columns; c++)
                noise_chain_solve(work->chain + from, n, gsl_matrix_ptr(&w.matrix, 0, c), w.matrix.tda);
        gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1, &inner.matrix, &w.matrix);
        return 0;
}

/* x := the block's inverse x */
static void solve_chain(const struct work *work, size_t from, gsl_vector *x)
{
        double numbers[NOISE_SHARED_MAX];
        gsl_vector_view moment;
        gsl_matrix_view y;
        bool shares = shared_of(work, from, &y);

        if (shares) {
                moment = gsl_vector_view_array(numbers, y.matrix.size2);
                gsl_blas_dgemv(CblasTrans, 1, &y.matrix, x, 0, &moment.vector);
        }
        noise_chain_solve(work->chain + from, x->size, x->data, x->stride);
        if (shares)
                gsl_blas_dgemv(CblasNoTrans, -1, &y.matrix, &moment.vector, 1, x);
}

static int invert_block(struct work *work, size_t from)
{
        const struct regression *fit = work->fit;
        gsl_matrix_view block = noise_block(work, from);
        size_t n = block.matrix.size1;
        gsl_matrix_view shared = gsl_matrix_submatrix(work->shared, from, 0, n, NOISE_SHARED_MAX);
        int err;

        work->n_shared[from / BLOCK_ROWS] =
                noise_chain_make(&fit->noise, work->rows, fit->index + from, n, work->power, fit->extra + from,
                                 work->chain + from, &shared.matrix);
        if (is_chain(work, from))
                return share_errors(work, from);
        noise_covariance(&fit->noise, work->rows, fit->index + from, n, work->power, fit->extra + from, &block.matrix);
        err = gsl_linalg_cholesky_decomp1(&block.matrix);
        if (!err)
                err = gsl_linalg_cholesky_invert(&block.matrix);
        return err ? errno_from_gsl(err) : 0;
}

int regression_invert_noise(struct work *work)
{
        int err = 0;

        for (size_t from = 0; !err && from < work->fit->n; from += BLOCK_ROWS)
                err = invert_block(work, from);
        return err;
}

void regression_unnoise(const struct work *work, const gsl_vector *from, gsl_vector *to)
{
        gsl_vector_memcpy(to, from);
        for (size_t at = 0; at < work->fit->n; at += BLOCK_ROWS) {
                gsl_matrix_view block = noise_block(work, at);
                gsl_vector_const_view x = gsl_vector_const_subvector(from, at, block.matrix.size1);
                gsl_vector_view y = gsl_vector_subvector(to, at, block.matrix.size1);

                if (is_chain(work, at))
                        solve_chain(work, at, &y.vector);
                else
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

/* A mode touches few columns. */
static void unnoise_block(struct work *work, size_t from)
{
        gsl_matrix_view block = noise_block(work, from);

        for (size_t b = 0; b < block.matrix.size1; b++)
                for (size_t j = 0; j < work->q; j++) {
                        double x = gsl_matrix_get(work->x, from + b, j);

                        if (x != 0)
                                add_column(work, from, &block.matrix, b, j, x);
                }
}

static void unnoise_chain(struct work *work, size_t from)
{
        size_t n = MIN(work->fit->n - from, (size_t)BLOCK_ROWS);
        gsl_matrix_const_view x = gsl_matrix_const_submatrix(work->x, from, 0, n, work->q);
        gsl_matrix_view white = gsl_matrix_submatrix(work->white, from, 0, n, work->q);

        gsl_matrix_memcpy(&white.matrix, &x.matrix);
        for (size_t j = 0; j < work->q; j++) {
                gsl_vector_view column = gsl_matrix_column(&white.matrix, j);

                solve_chain(work, from, &column.vector);
        }
}

void regression_unnoise_columns(struct work *work)
{
        gsl_matrix_set_zero(work->white);
        for (size_t from = 0; from < work->fit->n; from += BLOCK_ROWS)
                if (is_chain(work, from))
                        unnoise_chain(work, from);
                else
                        unnoise_block(work, from);
}

double regression_noise_diagonal(const struct work *work, size_t a)
{
        double diagonal;
        gsl_matrix_view y;

        if (!is_chain(work, a))
                return gsl_matrix_get(work->noise, a, a % BLOCK_ROWS);
        diagonal = work->chain[a].diagonal;
        if (shared_of(work, a, &y)) {
                gsl_vector_view row = gsl_matrix_row(&y.matrix, a % BLOCK_ROWS);
                double squares;

                gsl_blas_ddot(&row.vector, &row.vector, &squares);
                diagonal -= squares;
        }
        return diagonal;
}
