/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The estimator: non-negative generalised least squares (Aitken 1935; Lawson and Hanson 1974) of the rows on
 * the columns, with a prior that adjacent operating points are similar, and less weight for outliers. Choices
 * that are not from a book were made on virtual devices; comments say so.
 */

#include "algebra.h"
#include "noise.h"
#include "rows.h"

/*
 * A fuel gauge's error is a smooth curve of the level: cosines and sines of one to three waves over the whole
 * range, with mean 0 because the full charge is known. Its columns follow those of the coefficients.
 */
#define LEVEL_WAVES 3
#define LEVEL_COLUMNS (2 * LEVEL_WAVES)

/* Error of the full charge or energy that the battery reports, common to all rows; standard deviation. */
#define SCALE_PERCENT 0.5

/*
 * The same for a profile's joules alone. 5 %: usually one converter feeds sensor and charge counter, so they share its
 * error. 10 %: only percents and the shown full charge are known.
 */
#define CONVERTER_PERCENT 5.0
#define PERCENTS_PERCENT 10.0

/*
 * Standard deviations of a power gauge's gain and offset. The gain is from data sheets of fuel gauges, and common to
 * all coefficients. The offset is part of the base: half of it is from data sheets, the rest is for background activity
 * that half an hour cannot show (docs/accuracy.md).
 */
#define GAUGE_GAIN 0.01
#define GAUGE_OFFSET_MW 6.0

struct regression_options {
        struct noise noise;
        double smooth_active;  /* second differences of A: standard deviation relative to the policy's
                                  largest A */
        double smooth_shared;  /* the same for S */
        double smooth_display; /* the same for the display, relative to its largest power */
        double looseness; /* scales the priors between curves and coefficients (regression-shape.c); 1: usual */
        double level_sd;       /* size of each wave's cosine and sine */
        double outlier;        /* standard deviations from which a row loses weight */
        double prior_dof;      /* weight of the expected noise, in degrees of freedom */
        /*
         * rows of ordinary use, in which no state is held: none is corrected to its steady temperature, and
         * coefficients that they cannot separate are kept, with their errors, so that sums are right
         */
        bool as_used;
};

extern struct regression_options regression_options_default; /* joulecast-fit reads its environment first */

struct regression {
        size_t p;               /* number of coefficients */
        size_t z;               /* columns of the level's curve after these; 0 for a gauge */
        size_t n;               /* number of fitted rows */
        size_t *index;          /* n: indices of the fitted rows */
        gsl_vector *value;      /* p + z */
        gsl_matrix *covariance; /* covariance of all p + z */
        gsl_matrix *prior;      /* information, p + z square */
        double *deletion;       /* n: distance from the prediction by all others, in standard deviations */
        double *residual_mw;    /* n: observed minus fitted */
        double *warming_mw; /* for all rows, also unfitted ones: additional power at their steady temperature */
        double *extra;          /* n: additional variance of outliers, mW^2 */
        struct noise noise;     /* as expected for this device */
        double scale;           /* variance of the rows relative to the noise model */
        double degrees_of_freedom;
        double mean_residual, mean_sd; /* the rows that are no outliers, relative to their mean power */
        double lag_step,
                lag_sd; /* how much more the gauge lags by the rows, in updates, and its error; NaN: it does not */
        bool as_used;           /* as in the options */
};

/*
 * Returns 0; -ENODATA: no row to fit; -EDOM; -ENOMEM. @rows get the powers that an exponential mean hid; its
 * lag is fitted with the coefficients (regression-lag.c).
 */
int regression_fit(const struct columns *columns, struct rows *rows, const struct regression_options *options,
                   struct regression *ret);
void regression_clear(struct regression *regression);

/* Columns of the level's curve for a row at @level (0..1) with @power_mw; z entries. */
void regression_level_columns(double level, double power_mw, double *to);

/* Rank of the fitted rows with the prior. @null as from algebra_rank(), p x p. */
ssize_t regression_rank(const struct columns *columns, const struct rows *rows,
                        const struct regression *regression, gsl_matrix *null);
