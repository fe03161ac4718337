/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * One row of the regression per observation: mean power from the battery and mean usage from the counters,
 * all in mW and seconds, so that percent, gauge and ticks fit into one system of equations.
 */

#include "columns.h"
#include "observation/observation.h"

struct row {
        const struct observation *observation; /* not owned */
        double *x;          /* of the columns, per second */
        double power_mw;    /* NaN: unknown (the first, partial step) */
        double seconds;
        double start_s;     /* since the first row */
        double level;       /* state of charge in the middle, 0..1 */
        double refresh_s;   /* of the level; 0 for a gauge */
        double late_s;      /* mean delay that belongs to the mode before; 0 for a gauge */
        double updates;     /* of the gauge in the dwell */
        bool charge;        /* by level (percent, ticks); else by gauge */
        bool follows;       /* adjacent to the row before */
        bool picture;       /* of another picture than white: for x-emission_percent, never fitted */
        bool fitted;
};

struct rows {
        struct row *list;
        size_t n;
        size_t p;           /* columns */
        double *x;          /* n x p: the rows' x point into it */
};

/* How a step of the level is converted to joules. */
enum voltage_basis {
        VOLTAGE_MEASURED, /* voltage_now */
        VOLTAGE_GENERIC,  /* generic line of a lithium-ion cell */
};

/*
 * All observations of a run, in order; partial first steps, rejected and held-back ones are not `fitted`.
 * @error gets a sentence for -EINVAL: they cannot be converted to joules.
 */
int rows_make(const struct columns *columns, const struct observation *observations, size_t n,
              struct rows *ret, enum voltage_basis *basis, char *error, size_t error_size);
void rows_clear(struct rows *rows);
