/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Errors of the rows' mean powers and their covariance.
 *
 * Background activity lasts longer than a row and continues in the next one. A level that shows its step late
 * takes energy from one row and adds it to the next. An estimator that uses these correlations determines
 * differences between adjacent rows much better than their single errors suggest.
 */

#include <gsl/gsl_matrix.h>

#include "rows.h"

struct noise {
        double background_part;      /* background activity: standard deviation, relative to the power at
                                        rest */
        double background_sd_mw;     /* the same for this device, set by regression_fit() */
        double background_tau_s;
        /* part of the variance that is correlated from row to row; the rest is rare tasks */
        double background_hum;
        double level_error;          /* a step of the level, besides the curve: standard deviation,
                                        relative */
        double scatter; /* the same of a percent of charge, as its test found; set by regression_fit() */
        double gauge_error;          /* one update of the gauge, relative */
        double gauge_quantum_mw;
        double program_error; /* where instructions are counted: the same in all rows of a mode, relative */
        double model_error; /* effects of a mode that the model does not have (temperature, ...), relative */
};

/*
 * Covariance in mW^2 of the fitted rows @index[0..n-1]. @power: estimated power by row (not by index), mW.
 * @extra: additional variance of each fitted row (outliers), or NULL.
 */
void noise_covariance(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                      const double *power, const double *extra, gsl_matrix *covariance);

#define NOISE_SHARED_MAX 48

/*
 * The same for rows of a gauge: C + WW'. C has their own errors and the background activity, whose correlation decays
 * exponentially, so that its inverse takes time and memory linear in @n; W has the errors that rows of a mode share.
 */
struct noise_link {
        double read, carry, gain; /* C = L D L'; L[a][b] is read[a] x carry of all between x gain[b] ... */
        double variance;          /* ... and D[a][a] */
        double diagonal;          /* C^-1[a][a] */
};

/*
 * The number of W's columns; -1: rows are by a level or overlap, there are too many modes, or it is no covariance.
 * @chain: one link a row; @shared: n x NOISE_SHARED_MAX, gets W.
 */
ssize_t noise_chain_make(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                         const double *power, const double *extra, struct noise_link *chain, gsl_matrix *shared);
/* x := C^-1 x. @x: n values, @stride apart. */
void noise_chain_solve(const struct noise_link *chain, size_t n, double *x, size_t stride);
/* x'C x */
double noise_chain_variance(const struct noise_link *chain, size_t n, const double *x);

/* Variance in mW^2 of a future row: @seconds in a mode of @power_mw. */
double noise_expected(const struct noise *noise, bool charge, double power_mw, double before_mw,
                      double seconds, double refresh_s, double updates);
