/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The inverse of the rows' covariance, C^-1, by blocks. */

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

int regression_invert_noise(struct work *work)
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

void regression_unnoise(const struct work *work, const gsl_vector *from, gsl_vector *to)
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

/* A mode touches few columns. */
void regression_unnoise_columns(struct work *work)
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

double regression_noise_diagonal(const struct work *work, size_t a)
{
        return gsl_matrix_get(work->noise, a, a % BLOCK_ROWS);
}
