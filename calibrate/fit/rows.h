/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Makes one row of the regression from each observation: mean power from the battery and mean usage from the
 * counters, all in mW and seconds, so that percent, gauge and ticks fit into one system of equations.
 */

#include "columns.h"
#include "observation/observation.h"

struct row {
        const struct observation *observation; /* not owned */
        double *x;          /* values of the columns, per second */
        double power_mw;    /* NaN: unknown (the first, partial step) */
        double seconds;
        double start_s;     /* since the first row */
        double level;       /* state of charge in the middle of the row, 0..1 */
        double refresh_s;   /* refresh of the level; 0 for a gauge */
        double late_s;      /* mean delay that belongs to the previous mode; 0 for a gauge */
        double updates;     /* updates of the gauge in the dwell */
        double lag_mw; /* power missing in the dwell's mean for each update of an exponential mean's lag; 0: none */
        bool charge;        /* by level (percent, ticks); else by gauge */
        bool follows;       /* adjacent to the row before */
        bool picture; /* it shows a picture other than white: used for x-emission_percent, never fitted */
        bool kernel;  /* it has another kind of work than the others: used for the kinds' power, and nothing else */
        bool fitted;
};

struct rows {
        struct row *list;
        size_t n;
        size_t p;           /* number of columns */
        double *x;          /* n x p, to which the rows' x point */
        double scatter;     /* standard deviation of percents, by their test; 0: there was no test */
        double lag;         /* the gauge's lag in updates, for which the rows' powers are corrected; 0: none */
        double lag_before;  /* the lag by the step test */
};

/* How a step of the level is converted to joules. */
enum voltage_basis {
        VOLTAGE_MEASURED, /* voltage_now */
        VOLTAGE_GENERIC,  /* by the generic line of a lithium-ion cell */
};

/*
 * All observations of a run, in order; partial first steps, rejected and held-back ones are not `fitted`.
 * @error gets a sentence for -EINVAL: they cannot be converted to joules.
 */
int rows_make(const struct columns *columns, const struct observation *observations, size_t n,
              struct rows *ret, enum voltage_basis *basis, char *error, size_t error_size);
/* Corrects the powers for a gauge that lags by @lag updates. */
void rows_set_lag(struct rows *rows, double lag);
void rows_clear(struct rows *rows);
