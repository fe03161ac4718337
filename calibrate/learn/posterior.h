/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The posterior of a design's columns, given its rows and the calibration: a Gaussian prior times a Gaussian
 * likelihood. The standard deviation among apps is not given: it is estimated by the marginal likelihood of the rows
 * (MacKay, Bayesian Interpolation, 1992), so that small differences of apps are shrunk to none, and large ones stay.
 */

#include "design.h"

struct posterior {
        gsl_vector *value;             /* q */
        gsl_matrix *covariance;        /* q x q */
        gsl_matrix *white;             /* n x q: the columns, in standard deviations of the rows */
        gsl_vector *residual;          /* n: the rows' residuals, in the same unit */
        double common[DESIGN_COMMON];  /* standard deviation of a part as a whole from its calibration, relative */
        double misfit[LEARNT_COUNT];   /* standard deviation among apps, relative or W */
        double signal;                 /* standard deviation among signal levels, relative */
        double radio;                  /* standard deviation of a byte's cost among stretches, relative */
        double session;                /* standard deviation of all energy among sessions, relative */
        double scale;                  /* variance of the rows relative to spread_covariance() */
        double degrees_of_freedom;
        double evidence;               /* logarithm of the marginal likelihood of the rows, up to a constant */
};

/* @scale_sd: common relative error of all coefficients against the joules that the battery shows. */
int posterior_make(struct design *design, double scale_sd, struct posterior *ret);
void posterior_clear(struct posterior *posterior);
