/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the rows of a design say of its columns, given the calibration: a Gaussian prior times a Gaussian likelihood.
 * What apps may differ by is not given: it is what makes the rows most likely (marginal likelihood; MacKay, Bayesian
 * Interpolation, 1992), so that apps that differ little are shrunk to none, and apps that differ much are not.
 */

#include "design.h"

struct posterior {
        gsl_vector *value;             /* q */
        gsl_matrix *covariance;        /* q x q */
        gsl_matrix *white;             /* n x q: the columns, in standard deviations of the rows */
        gsl_vector *residual;          /* n: what is left, likewise */
        double common[COMPONENT_COUNT]; /* standard deviation of a component as a whole from its calibration: parts */
        double misfit[LEARNT_COUNT];   /* standard deviation among apps: parts, W */
        double signal;                 /* standard deviation among levels of the signal: a part */
        double radio;                  /* of what a byte costs, from stretch to stretch: a part */
        double scale;                  /* variance of the rows relative to spread_covariance() */
        double degrees_of_freedom;
};

/* @scale_sd: by how much all coefficients together may be off in the joules that the battery shows. */
int posterior_make(struct design *design, double scale_sd, struct posterior *ret);
void posterior_clear(struct posterior *posterior);
