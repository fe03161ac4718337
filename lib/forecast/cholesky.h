/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Positive definite systems of a few dozen unknowns. */

#include <stddef.h>

/* In place: the lower triangle L of a matrix = L L', of which only that triangle is read. */
void cholesky_make(double *matrix, size_t n);
/* Solves L L' x = b in place: @x holds b, and gets x. */
void cholesky_solve(const double *lower, size_t n, double *x);
/* Logarithm of the determinant of L L'. */
double cholesky_log_determinant(const double *lower, size_t n);
