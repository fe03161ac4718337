/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "posterior.h"

/*
 * Kinds of differences, each with a standard deviation that is estimated from the rows: a component as a whole from its
 * calibration (which had a white picture and one kind of work), apps among each other, a byte over the air from hour to
 * hour, all of them from session to session.
 */
enum kind {
        KIND_COMMON, /* DESIGN_COMMON of them */
        KIND_APP = DESIGN_COMMON, /* LEARNT_COUNT of them */
        KIND_RADIO = KIND_APP + LEARNT_COUNT,
        KIND_SIGNAL,
        KIND_SESSION,
        KIND_COUNT
};

struct work {
        struct design *design;
        struct posterior *posterior;
        gsl_matrix *prior;       /* information of the p coefficients */
        gsl_vector *prior_value; /* p */
        gsl_matrix *data;        /* q x q: X'N^-1 X */
        gsl_matrix *gram, *ordered;
        gsl_vector *moment, *data_moment;
        gsl_vector *at;          /* q: the values that the rows are linearised at */
        gsl_vector *y;           /* n, white */
        double *free_sd;         /* q: prior standard deviations of the columns after p */
        size_t *kind;            /* q; KIND_COUNT: of none */
        size_t *order;           /* q */
        double *outlier_j2;      /* n */
        double log_determinant;  /* log of the determinant of the rows' covariance */
        bool *nonneg;
};

/* The prior standard deviation of the columns of a kind. */
void posterior_set_kind(struct work *work, size_t kind, double sd);
/* Rows and columns in standard deviations: L^-1 with L L' their covariance. 0; -ENOMEM; of GSL. */
int posterior_whiten(struct work *work);
/* Information of rows and prior, and its right side. */
void posterior_gram(struct work *work);

/* posterior-difference.c */
double *posterior_difference(struct posterior *posterior, size_t kind); /* where it is kept */
double posterior_first_difference(size_t kind);                         /* where the search begins */
double posterior_log_prior(const struct work *work, size_t kind, double sd);
int posterior_learn_differences(struct work *work); /* 0; -ENOMEM; -EDOM */

/* posterior-scatter.c; @usual: the prior. 0; -ENOMEM; -EDOM. */
int posterior_learn_scatter(struct work *work, const struct scatter *usual);
