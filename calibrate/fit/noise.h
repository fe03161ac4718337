/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the rows' mean powers are wrong by, and how these errors hang together:
 * daemons that no counter shows outlast a row and reach into the next; a level
 * that shows its step late takes from one row what it gives to the other. An
 * estimator that knows this sees differences between neighbours far better than
 * their single errors suggest.
 */

#include <gsl/gsl_matrix.h>

#include "rows.h"

struct noise {
        double background_part;      /* daemons: their standard deviation, of the power at rest */
        double background_sd_mw;     /* the same of this device; regression_fit() sets it */
        double background_tau_s;
        double background_hum;       /* part of their variance that lasts from row to row; rest: rare tasks */
        double level_error;          /* a step of the level, beyond the curve: standard deviation, of 1 */
        double gauge_error;          /* one update of the gauge, of 1 */
        double gauge_quantum_mw;
        double model_error;          /* what the model does not know of a mode (temperature, ...), of 1 */
};

/*
 * Covariance in mW^2 of the fitted rows @index[0..n-1]. @power: the rows' power as far as it is known, by row
 * (not by index), mW. @extra: a variance of its own for each fitted row (an outlier's), or NULL.
 */
void noise_covariance(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                      const double *power, const double *extra, gsl_matrix *covariance);

/* Variance in mW^2 of a row to come: @seconds in a mode of @power_mw by @method's kind of row. */
double noise_expected(const struct noise *noise, bool charge, double power_mw, double before_mw,
                      double seconds, double refresh_s, double updates);
