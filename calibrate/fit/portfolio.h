/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the profile is for: totals and apps of typical use. A calibration goes on until their errors are small
 * enough, and chooses the modes that lower them most.
 */

#include "regression.h"

struct portfolio {
        gsl_matrix *totals; /* one row each, of the columns; energies of a session, mJ */
        gsl_matrix *apps;
        bool *lost;         /* columns that cannot be measured any more; initially none */
};

/* From the usage database @path, else (NULL, missing, too little) four typical apps on such a device. */
int portfolio_make(const struct columns *columns, const char *path, struct portfolio *ret);
void portfolio_clear(struct portfolio *portfolio);

/*
 * Half-width of the 95 % interval of a total, in percent: the 80th percentile of the portfolio. NaN: unknown.
 */
double portfolio_half_width(const struct portfolio *portfolio, const struct regression *fit);

/* A mode that may come next. */
struct candidate {
        const double *x;    /* of the columns, per second */
        bool excluded;
};

/* The next step. */
struct step {
        double percent_j;   /* joules of one percent of the battery */
        double dwell_s;     /* duration; 0: until one percent is used */
        double level;       /* in its middle, 0..1 */
        double refresh_s;
        double before_mw;   /* power of the mode before */
};

/* The candidate that lowers the portfolio's relative variance most per cost; -1: none. */
ssize_t portfolio_next(const struct portfolio *portfolio, const struct regression *fit,
                       const struct candidate *candidates, size_t n, const struct step *step);
