/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "algebra.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "util/util.h"

/*
 * Smaller singular values, relative to the largest, count as zero: between rounding (1e-16) and the weakest
 * design (1e-5).
 */
#define RANK_TOLERANCE 1e-9

int errno_from_gsl(int code)
{
        switch (code) {
        case GSL_SUCCESS:
                return 0;
        case GSL_ENOMEM:
                return -ENOMEM;
        case GSL_EDOM:
        case GSL_ESING:
                return -EDOM;
        case GSL_EMAXITER:
                return -ELOOP;
        default:
                return -EINVAL;
        }
}

/* 1/sqrt of the diagonal; 1 if it is 0. */
static void unit_scale(const gsl_matrix *matrix, gsl_vector *scale)
{
        for (size_t i = 0; i < matrix->size1; i++) {
                double d = gsl_matrix_get(matrix, i, i);

                gsl_vector_set(scale, i, d > 0 ? 1 / sqrt(d) : 1);
        }
}

static void scale_both(gsl_matrix *matrix, const gsl_vector *scale)
{
        for (size_t i = 0; i < matrix->size1; i++)
                for (size_t j = 0; j < matrix->size2; j++)
                        *gsl_matrix_ptr(matrix, i, j) *= gsl_vector_get(scale, i) * gsl_vector_get(scale, j);
}

int algebra_invert(const gsl_matrix *matrix, gsl_matrix *inverse)
{
        _cleanup_vector_ gsl_vector *scale = gsl_vector_alloc(matrix->size1);
        int err;

        if (!scale)
                return -ENOMEM;
        unit_scale(matrix, scale);
        gsl_matrix_memcpy(inverse, matrix);
        scale_both(inverse, scale);
        err = gsl_linalg_cholesky_decomp1(inverse);
        if (!err)
                err = gsl_linalg_cholesky_invert(inverse);
        if (err)
                return errno_from_gsl(err);
        scale_both(inverse, scale);
        return 0;
}

struct nnls {
        const gsl_matrix *gram;
        const gsl_vector *moment;
        gsl_matrix *factor;  /* Cholesky factor of the free columns */
        gsl_vector *solution;
        size_t *free;        /* indices of the free columns */
        size_t n_free;
        bool *is_free;
        size_t p;
};

/* Solves for the free columns; @value is 0 elsewhere. */
static int nnls_solve(struct nnls *nnls, gsl_vector *value)
{
        gsl_matrix_view factor;
        gsl_vector_view solution;
        int err;

        gsl_vector_set_zero(value);
        nnls->n_free = 0;
        for (size_t j = 0; j < nnls->p; j++)
                if (nnls->is_free[j])
                        nnls->free[nnls->n_free++] = j;
        if (nnls->n_free == 0)
                return 0;
        factor = gsl_matrix_submatrix(nnls->factor, 0, 0, nnls->n_free, nnls->n_free);
        solution = gsl_vector_subvector(nnls->solution, 0, nnls->n_free);
        for (size_t a = 0; a < nnls->n_free; a++) {
                const double *from = gsl_matrix_const_ptr(nnls->gram, nnls->free[a], 0);
                double *to = gsl_matrix_ptr(&factor.matrix, a, 0);

                for (size_t b = 0; b <= a; b++)
                        to[b] = from[nnls->free[b]];
                gsl_vector_set(&solution.vector, a, gsl_vector_get(nnls->moment, nnls->free[a]));
        }
        err = gsl_linalg_cholesky_decomp1(&factor.matrix);
        if (!err)
                err = gsl_linalg_cholesky_svx(&factor.matrix, &solution.vector);
        if (err)
                return errno_from_gsl(err);
        for (size_t a = 0; a < nnls->n_free; a++)
                gsl_vector_set(value, nnls->free[a], gsl_vector_get(&solution.vector, a));
        return 0;
}

/* The column held at 0 whose release lowers the sum of squares most; -1: done. */
static ssize_t nnls_worst(const struct nnls *nnls, const gsl_vector *value, double tolerance)
{
        ssize_t worst = -1;
        double most = tolerance;

        for (size_t j = 0; j < nnls->p; j++) {
                gsl_vector_const_view row = gsl_matrix_const_row(nnls->gram, j);
                double norm = sqrt(gsl_matrix_get(nnls->gram, j, j)), dot;

                if (nnls->is_free[j] || norm <= 0)
                        continue;
                gsl_blas_ddot(&row.vector, value, &dot);
                dot = (gsl_vector_get(nnls->moment, j) - dot) / norm;
                if (dot > most) {
                        most = dot;
                        worst = (ssize_t)j;
                }
        }
        return worst;
}

/*
 * Moves from the feasible @value towards @target until a coefficient becomes 0, and holds that one at 0.
 * Returns false if it reached the target.
 */
static bool nnls_step(struct nnls *nnls, const bool *nonneg, gsl_vector *value, const gsl_vector *target)
{
        double step = 1;
        size_t first = nnls->p;

        for (size_t j = 0; j < nnls->p; j++) {
                double from = gsl_vector_get(value, j), to = gsl_vector_get(target, j);

                if (!nnls->is_free[j] || !nonneg[j] || to > 0)
                        continue;
                if (from / (from - to) < step || first == nnls->p) {
                        step = from > 0 ? from / (from - to) : 0;
                        first = j;
                }
        }
        if (first == nnls->p) {
                gsl_vector_memcpy(value, target);
                return false;
        }
        for (size_t j = 0; j < nnls->p; j++) {
                double from = gsl_vector_get(value, j);

                gsl_vector_set(value, j, from + step * (gsl_vector_get(target, j) - from));
                if (nnls->is_free[j] && nonneg[j] && (j == first || gsl_vector_get(value, j) <= 0)) {
                        nnls->is_free[j] = false;
                        gsl_vector_set(value, j, 0);
                }
        }
        return true;
}

/*
 * Finds a feasible start: columns that are not above 0 in the free solution are held at 0, until all others
 * are.
 */
static int nnls_start(struct nnls *nnls, const bool *nonneg, gsl_vector *value)
{
        for (size_t round = 0; round <= nnls->p; round++) {
                bool held = false;
                int err = nnls_solve(nnls, value);

                if (err)
                        return err;
                for (size_t j = 0; j < nnls->p; j++) {
                        if (!nnls->is_free[j] || !nonneg[j] || gsl_vector_get(value, j) > 0)
                                continue;
                        nnls->is_free[j] = false;
                        held = true;
                }
                if (!held)
                        return 0;
        }
        return -ELOOP;
}

static int nnls_run(struct nnls *nnls, const bool *nonneg, gsl_vector *value)
{
        _cleanup_vector_ gsl_vector *target = gsl_vector_alloc(nnls->p);
        double tolerance = 1e-10 * gsl_blas_dnrm2(nnls->moment);
        int err;

        if (!target)
                return -ENOMEM;
        err = nnls_start(nnls, nonneg, value);
        for (size_t round = 0; !err && round < 3 * nnls->p + 30; round++) {
                ssize_t worst = nnls_worst(nnls, value, tolerance);

                if (worst < 0)
                        return 0;
                nnls->is_free[worst] = true;
                do
                        err = nnls_solve(nnls, target);
                while (!err && nnls_step(nnls, nonneg, value, target));
                if (!err && !nnls->is_free[worst])
                        return 0; /* it was released and held again, so its gradient was rounding */
        }
        return err ? err : -ELOOP;
}

int algebra_nnls(const gsl_matrix *gram, const gsl_vector *moment, const bool *nonneg, gsl_vector *value)
{
        size_t p = gram->size1;
        _cleanup_matrix_ gsl_matrix *scaled = gsl_matrix_alloc(p, p), *factor = gsl_matrix_alloc(p, p);
        _cleanup_vector_ gsl_vector *scale = gsl_vector_alloc(p), *right = gsl_vector_alloc(p);
        _cleanup_vector_ gsl_vector *solution = gsl_vector_alloc(p);
        _cleanup_free_ size_t *free_columns = calloc(p, sizeof(*free_columns));
        _cleanup_free_ bool *is_free = calloc(p, sizeof(*is_free));
        struct nnls nnls = { scaled, right, factor, solution, free_columns, 0, is_free, p };
        int err;

        if (!scaled || !factor || !scale || !right || !solution || !free_columns || !is_free)
                return -ENOMEM;
        unit_scale(gram, scale);
        gsl_matrix_memcpy(scaled, gram);
        scale_both(scaled, scale);
        gsl_vector_memcpy(right, moment);
        gsl_vector_mul(right, scale);
        for (size_t j = 0; j < p; j++)
                is_free[j] = gsl_matrix_get(gram, j, j) > 0 && (!nonneg[j] || gsl_vector_get(value, j) > 0);
        err = nnls_run(&nnls, nonneg, value);
        if (!err)
                gsl_vector_mul(value, scale);
        return err;
}

ssize_t algebra_rank(const gsl_matrix *matrix, gsl_matrix *null)
{
        size_t n = MAX(matrix->size1, matrix->size2), p = matrix->size2, rank = 0;
        _cleanup_matrix_ gsl_matrix *scaled = gsl_matrix_calloc(n, p), *v = gsl_matrix_alloc(p, p);
        _cleanup_matrix_ gsl_matrix *x = gsl_matrix_alloc(p, p);
        _cleanup_vector_ gsl_vector *values = gsl_vector_alloc(p), *work = gsl_vector_alloc(p);
        int err;

        if (!scaled || !v || !x || !values || !work)
                return -ENOMEM;
        for (size_t j = 0; j < p; j++) {
                gsl_vector_const_view from = gsl_matrix_const_column(matrix, j);
                double norm = gsl_blas_dnrm2(&from.vector);

                for (size_t i = 0; norm > 0 && i < matrix->size1; i++)
                        gsl_matrix_set(scaled, i, j, gsl_vector_get(&from.vector, i) / norm);
        }
        err = gsl_linalg_SV_decomp_mod(scaled, x, v, values, work);
        if (err)
                return errno_from_gsl(err);
        while (rank < p && gsl_vector_get(values, rank) > RANK_TOLERANCE * gsl_vector_get(values, 0))
                rank++;
        for (size_t k = rank; k < p; k++) {
                gsl_vector_view column = gsl_matrix_column(v, k), row = gsl_matrix_row(null, k - rank);

                gsl_vector_memcpy(&row.vector, &column.vector);
        }
        return (ssize_t)rank;
}
