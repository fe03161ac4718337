/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The steps of the fit of a radio, and their data. */

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "radio-fit.h"

/* Columns of the regression, all per second of a row. */
enum {
        COLUMN_OFFSET,  /* 1 */
        COLUMN_PACKETS, /* number of packets sent, then of packets received */
        COLUMN_MB = COLUMN_PACKETS + RADIO_DIRECTIONS,
        COLUMN_WAKES = COLUMN_MB + RADIO_DIRECTIONS, /* only in the linear model */
        /* time up in s with each timer; then the same above each rate; then how often the rate ended */
        COLUMN_UP,
};

struct radio_columns {
        const struct radio_traits *traits;
        const struct radio_shape *shape;
        double timer_ms[RADIO_RUNGS_MAX];
        size_t n_timers, n_rates, end_rung, p; /* n_rates 0: there are no thresholds */
};

static inline size_t up_column(size_t timer)
{
        return COLUMN_UP + timer;
}

static inline bool is_up_column(const struct radio_columns *columns, size_t column)
{
        return column >= COLUMN_UP && column < COLUMN_UP + columns->n_timers;
}

static inline size_t above_column(const struct radio_columns *columns, size_t rate, size_t timer)
{
        return COLUMN_UP + (1 + rate) * columns->n_timers + timer;
}

static inline size_t end_column(const struct radio_columns *columns, size_t rate)
{
        return above_column(columns, columns->n_rates, 0) + rate;
}

/* radio-columns.c */
void radio_columns_make(struct radio_columns *columns, const struct radio_traits *traits,
                        const struct radio_shape *shape);
void radio_columns_row(const struct radio_columns *columns, const struct radio_row *row, double *x);

/* The weighted normal equations over all columns. */
struct radio_problem {
        struct radio_columns columns;
        const struct radio_row *rows;
        size_t n;
        gsl_matrix *x, *gram; /* rows of x are divided by their errors */
        gsl_vector *y, *moment;
        double squares;       /* sum of squares of y */
        double offset_sd_mw;  /* standard deviation of the error common to all rows */
};

/* Coefficients of all columns; 0 for columns that are not in the model. */
struct radio_model {
        double *value;
        double chi2;
        double score; /* chi square plus the handicap; the model with the least wins */
};

/* radio-solve.c: 0; -ENOMEM */
int radio_problem_make(const struct radio_traits *traits, const struct radio_shape *shape,
                       const struct radio_row *rows, size_t n, double offset_sd_mw, struct radio_problem *ret);
void radio_problem_clear(struct radio_problem *problem);
/*
 * Adds @error (in units of each row's error, then the expected offset) to the rows' powers; NULL: restores
 * them.
 */
void radio_problem_move(struct radio_problem *problem, const gsl_vector *error);
/* Solves with a price per byte and burst. */
int radio_solve_linear(const struct radio_problem *problem, struct radio_model *ret);
/*
 * Solves with all timers, and without or with each threshold. Draws one of these models at random, in
 * proportion to its likelihood, and removes the timers that it does not need.
 */
int radio_solve(const struct radio_problem *problem, uint64_t *random, struct radio_model *ret);
double radio_random(uint64_t *state); /* uniform between 0 and 1 */

/* radio-automaton.c: 0; -ENODATA: it draws nothing between packets; -ENOMEM */
int radio_automaton(const struct radio_columns *columns, const struct radio_model *model, struct radio *ret);
