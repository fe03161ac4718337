/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cholesky.h"

#include <math.h>

void cholesky_make(double *matrix, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j <= i; j++) {
                        double sum = matrix[i * n + j];

                        for (size_t k = 0; k < j; k++)
                                sum -= matrix[i * n + k] * matrix[j * n + k];
                        matrix[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / matrix[j * n + j];
                }
        }
}

void cholesky_solve(const double *lower, size_t n, double *x)
{
        for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < i; k++)
                        x[i] -= lower[i * n + k] * x[k];
                x[i] /= lower[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
                for (size_t k = i + 1; k < n; k++)
                        x[i] -= lower[k * n + i] * x[k];
                x[i] /= lower[i * n + i];
        }
}

double cholesky_log_determinant(const double *lower, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += 2 * log(lower[i * n + i]);
        return sum;
}
