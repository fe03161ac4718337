/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* `--follow`: replies to each observation with the precision so far and the next mode (observation.h). */

#include "regression.h"

/*
 * The uses that the profile is made for: totals and apps of typical use. A calibration continues until their
 * errors are small enough, and chooses the modes that reduce these errors most.
 */

struct portfolio {
        gsl_matrix *totals; /* energies of a session in mJ; one row per session, by column */
        gsl_matrix *apps;
        bool *lost;         /* columns that cannot be measured any more; none at first */
};

/*
 * Made from the usage database @path, or (NULL, missing, too little data) from four typical apps on such a
 * device.
 */
int portfolio_make(const struct columns *columns, const char *path, struct portfolio *ret);
void portfolio_clear(struct portfolio *portfolio);

/*
 * Half-width of the 95 % interval of a total, in percent: the 80th percentile of the portfolio. NaN: unknown.
 */
double portfolio_half_width(const struct portfolio *portfolio, const struct regression *fit);

/* A mode that may come next. */
struct candidate {
        const double *x;    /* values of the columns, per second */
        bool excluded;
};

/* The next step. */
struct step {
        double percent_j;   /* energy of one percent of the battery, J */
        double dwell_s;     /* duration; 0: until one percent is used */
        double level;       /* state of charge in the middle of the step, 0..1 */
        double refresh_s;
        double before_mw;   /* power of the mode before it */
};

/* The candidate with the largest reduction of the portfolio's relative variance per cost; -1: none. */
ssize_t portfolio_next(const struct portfolio *portfolio, const struct regression *fit,
                       const struct candidate *candidates, size_t n, const struct step *step);

struct cJSON;
struct follow;

int follow_new(struct follow **ret);
void follow_free(struct follow *follow);

/* Reply to one line; NULL without memory. @end: it was the last line. */
struct cJSON *follow_answer(struct follow *follow, const char *line, bool *end);
