/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The estimator: non-negative generalised least squares (Aitken 1935; Lawson and Hanson 1974) of the rows on
 * the columns, with a prior that lets neighbouring operating points resemble each other, and less weight for
 * rows that the others contradict. What is not of a book was found on virtual devices, and says so.
 */

#include "algebra.h"
#include "noise.h"
#include "rows.h"

/*
 * A fuel gauge's error is a smooth curve of the level: cosines and sines of one to three waves
 * over the whole range, whose mean is 0 because the full charge is known. Their columns come after
 * those of the coefficients.
 */
#define LEVEL_WAVES 3
#define LEVEL_COLUMNS (2 * LEVEL_WAVES)

/*
 * What a joule is: error of the full charge or energy that the battery tells,
 * common to all. Standard deviation.
 */
#define SCALE_PERCENT 0.5

struct regression_options {
        struct noise noise;
        double smooth_active;  /* second differences of A: standard deviation, of the policy's largest A */
        double smooth_shared;  /* of S, likewise */
        double level_sd;       /* of each wave's cosine and sine */
        double outlier;        /* a row loses weight so many standard deviations from what the others say */
        double prior_dof;      /* how many degrees of freedom our belief in the noise is worth */
};

extern struct regression_options regression_options_default; /* joulecast-fit reads its environment first */

struct regression {
        size_t p;               /* coefficients */
        size_t z;               /* columns of the level's curve after them; 0 for a gauge */
        size_t n;               /* fitted rows */
        size_t *index;          /* n: of the fitted rows */
        gsl_vector *value;      /* p + z */
        gsl_matrix *covariance; /* of all p + z */
        gsl_matrix *prior;      /* information, p + z square */
        double *deletion;       /* n: how far each row is from what all others say, in standard deviations */
        double *residual_mw;    /* n: observed minus fitted */
        double *extra;          /* n: variance that takes weight from outliers, mW^2 */
        struct noise noise;     /* as expected of this device */
        double scale;           /* variance of the rows, of what the noise model expects */
        double degrees_of_freedom;
};

/* 0; -ENODATA: no row to fit; -EDOM; -ENOMEM. */
int regression_fit(const struct columns *columns, const struct rows *rows,
                   const struct regression_options *options, struct regression *ret);
void regression_clear(struct regression *regression);

/* The level's columns of a row at @level (0..1) with @power_mw; z entries. */
void regression_level_columns(double level, double power_mw, double *to);

/*
 * Rank of the fitted rows with the prior. @null as algebra_rank() leaves it, p x p; which columns have a part
 * in what cannot be told apart is for the caller to say.
 */
ssize_t regression_rank(const struct columns *columns, const struct rows *rows,
                        const struct regression *regression, gsl_matrix *null);
