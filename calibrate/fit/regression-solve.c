/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Solves the weighted normal equations with no coefficient below 0. */

#include <gsl/gsl_blas.h>

#include "regression-private.h"

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
        regression_unnoise(work, &residual.vector, work->ry);
        gsl_blas_ddot(work->ry, &residual.vector, &chi2);
        for (size_t a = 0; a < fit->n; a++) {
                gsl_vector_const_view x = gsl_matrix_const_row(work->white, a);
                double leverage;

                gsl_blas_dgemv(CblasNoTrans, 1 / fit->scale, work->inverse, &x.vector, 0, work->moment);
                gsl_blas_ddot(&x.vector, work->moment, &leverage);
                work->precision[a] = regression_noise_diagonal(work, a) - leverage;
                fit->deletion[a] =
                        work->precision[a] > 0 ? gsl_vector_get(work->ry, a) / work->precision[a] : 0;
        }
        return chi2;
}
