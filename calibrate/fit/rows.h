/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * One row of the regression per observation: the mean power that the battery
 * says, and the mean usage that the counters say. All in mW and seconds, so
 * that percent, gauge and ticks stand in one system of equations.
 */

#include "columns.h"
#include "observation/observation.h"

struct row {
        const struct observation *observation; /* not owned */
        double *x;          /* of the columns, per second */
        double power_mw;    /* NaN: the observation does not say (the burnt step) */
        double seconds;
        double start_s;     /* since the first row */
        double level;       /* state of charge in the middle, 0..1 */
        double refresh_s;   /* of the level; 0 for a gauge */
        double late_s;      /* so long it drew in the mode before, on average; 0 for a gauge */
        double updates;     /* of the gauge in the dwell */
        bool charge;        /* a charge level (percent, ticks), else a gauge */
        bool follows;       /* the row before ended where this one starts */
        bool fitted;
};

struct rows {
        struct row *list;
        size_t n;
        size_t p;           /* columns */
        double *x;          /* n x p: where the rows' x point to */
};

/* How joules come from a step of the level. */
enum voltage_basis {
        VOLTAGE_MEASURED, /* voltage_now */
        VOLTAGE_GENERIC,  /* the generic discharge line of one lithium-ion cell */
};

/*
 * All observations of a run, in order; burnt, rejected and held-back ones are not `fitted`. @error gets a
 * sentence for -EINVAL: the observations say too little to get joules from them.
 */
int rows_make(const struct columns *columns, const struct observation *observations, size_t n,
              struct rows *ret, enum voltage_basis *basis, char *error, size_t error_size);
void rows_clear(struct rows *rows);
