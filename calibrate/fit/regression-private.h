/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The steps of one fit and their data. */

#include "regression.h"

/* The rows' covariance is inverted in blocks, so that time stays linear in the number of rows. */
#define BLOCK_ROWS 256

struct work {
        const struct columns *columns;
        const struct rows *rows;
        const struct regression_options *options;
        struct regression *fit;
        size_t q;               /* p + z */
        gsl_matrix *x;          /* n x q */
        gsl_matrix *noise;      /* C^-1 of the rows, block by block ... */
        struct noise_link *chain; /* n: ... or a chain ... */
        gsl_matrix *shared;     /* n x NOISE_SHARED_MAX: ... with the errors that rows of a mode share ... */
        ssize_t *n_shared;       /* ... in this number of columns; -1: the block is no chain */
        gsl_matrix *white;      /* C^-1 X */
        gsl_vector *y;          /* n: observed power, corrected for delays of the level */
        gsl_vector *ry;         /* n: C^-1 of the residuals */
        gsl_matrix *gram;       /* q x q */
        gsl_matrix *inverse;
        gsl_vector *moment;
        gsl_vector *last;       /* value of the previous iteration */
        double *power;          /* power of all rows: the best estimate so far */
        double *precision;      /* n: diagonal of the projection (1 / deletion variance) */
        double *scratch;        /* n */
        bool *nonneg;
        double *bend_sd;        /* q: curvature of the coefficients that begin at this column, mW */
        double level_sd;        /* size of each wave, estimated for this gauge */
        gsl_matrix *before;     /* q x q: information of the earlier profile; NULL: there is none */
        gsl_vector *before_value, *before_moment;
};

/* Mean of rare tasks relative to the standard deviation of the background, assumed before any is seen. */
#define RARE_PART 0.18

/* regression-prior.c */
/* Adds one row d to the prior: information += d d'. */
void regression_prior_add(gsl_matrix *prior, const size_t *at, const double *weight, size_t n);
void regression_prior_make(struct work *work, bool first_time);
void regression_learn_level(struct work *work);

/* regression-before.c: used with --only; does nothing otherwise. */
int regression_before_make(struct work *work);
/* Restores the coefficients that are not measured again. */
void regression_before_keep(struct work *work);
static inline bool regression_keeps(const struct work *work, size_t column)
{
        return column != SIZE_MAX && work->columns->kept[column];
}

/* regression-shape.c */
/* A at a frequency relative to that at the highest, as on real clusters; 0: the fit takes a line. */
double regression_usual_shape(const struct work *work, const struct device_policy *policy, size_t k);
void regression_prior_shapes(struct work *work, bool first_time);

/* regression-noise.c */
int regression_invert_noise(struct work *work);
void regression_unnoise(const struct work *work, const gsl_vector *from, gsl_vector *to); /* to := C^-1 from */
void regression_unnoise_columns(struct work *work);                                       /* white := C^-1 X */
double regression_noise_diagonal(const struct work *work, size_t a);                      /* C^-1[a][a] */

/* regression-solve.c */
int regression_solve(struct work *work);
double regression_judge(struct work *work); /* sets residuals, deletion[] and precision[]; returns chi square */
double regression_effective_parameters(const struct work *work);

/* regression-warm.c */
void regression_warm(struct work *work);      /* fit->warming_mw, by the present coefficients */
int regression_warm_error(struct work *work); /* adds its error to fit->covariance */

/* regression-lag.c */
int regression_fit_once(const struct columns *columns, const struct rows *rows,
                        const struct regression_options *options, struct regression *ret);
int regression_lag(struct work *work); /* fits it, and adds its error to the covariance */

/* regression-mean.c */
int regression_mean(struct work *work); /* sets mean_residual and mean_sd */

/* regression-outliers.c */
void regression_weigh(struct work *work);
int regression_recentre(struct work *work);
