/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Dense algebra on GSL. GSL's error handler must be off: its codes are converted to errno here. */

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

static inline void matrix_freep(gsl_matrix **matrix)
{
        if (*matrix)
                gsl_matrix_free(*matrix);
}

static inline void vector_freep(gsl_vector **vector)
{
        if (*vector)
                gsl_vector_free(*vector);
}

#define _cleanup_matrix_ __attribute__((cleanup(matrix_freep)))
#define _cleanup_vector_ __attribute__((cleanup(vector_freep)))

int errno_from_gsl(int code);

/*
 * Inverts a symmetric positive definite matrix, after scaling it to a unit diagonal. Returns 0; -EDOM: it is
 * not such a matrix; -ENOMEM.
 */
int algebra_invert(const gsl_matrix *matrix, gsl_matrix *inverse);

/**
 * algebra_nnls() - least squares with some coefficients not below 0
 * @gram:     X'X (p x p)
 * @moment:   X'y
 * @nonneg:   which coefficients may not be negative
 * @value:    the result; columns with a positive value on entry start out free (a warm start)
 *
 * Lawson and Hanson's active set (Solving Least Squares Problems, 1974, chapter 23) on the normal equations,
 * each solved by Cholesky.
 *
 * Return: 0; -EDOM: a set of columns is singular; -ELOOP: it did not converge; -ENOMEM.
 */
int algebra_nnls(const gsl_matrix *gram, const gsl_vector *moment, const bool *nonneg, gsl_vector *value);

/**
 * algebra_rank() - find columns that are linearly dependent
 * @matrix:   n x p; scaled to columns of length 1 here; a column of zeros is a null vector by itself
 * @null:     p x p; its first `p - rank` rows become an orthonormal basis of the null space (of the scaled
 *            columns)
 *
 * Uses singular values: GSL's solvers return success, and small errors, on a deficient design.
 *
 * Return: the rank; a negative errno.
 */
ssize_t algebra_rank(const gsl_matrix *matrix, gsl_matrix *null);
