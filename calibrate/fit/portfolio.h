/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the profile will be asked: totals and apps of typical use. Calibration
 * goes on until their errors are small enough, and spends each step of the
 * battery where it helps them most.
 */

#include "regression.h"

struct portfolio {
        gsl_matrix *totals; /* one row each, of the columns; energies of a session, mJ */
        gsl_matrix *apps;
        bool *lost;         /* columns that nothing tells of any more: not asked for; none at first */
};

/*
 * The user's own days in the usage database @path, else
 * (NULL, none there, too little) four apps on such a device.
 */
int portfolio_make(const struct columns *columns, const char *path, struct portfolio *ret);
void portfolio_clear(struct portfolio *portfolio);

/*
 * Half-width of the 95 % interval of a total, in percent of it:
 * the 80th percentile of the portfolio. NaN: unknown.
 */
double portfolio_half_width(const struct portfolio *portfolio, const struct regression *fit);

/* A mode that could come next. */
struct candidate {
        const double *x;    /* of the columns, per second */
        bool excluded;
};

/* Circumstances of the step to come. */
struct step {
        double percent_j;   /* joules of one percent of the battery */
        double dwell_s;     /* how long it lasts; 0: until one percent is gone */
        double level;       /* 0..1 in its middle */
        double refresh_s;
        double before_mw;   /* of the mode before */
};

/* The candidate whose row lowers the portfolio's relative variance most per cost; -1: none. */
ssize_t portfolio_next(const struct portfolio *portfolio, const struct regression *fit,
                       const struct candidate *candidates, size_t n, const struct step *step);
