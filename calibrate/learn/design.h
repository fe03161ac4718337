/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Everyday observations as a system of linear equations. A row says what the battery gave between two steps of its
 * level; its columns are, in this order,
 *
 *   the coefficients of the calibration,
 *   by how much a component as a whole differs from its calibration,
 *   what may be learnt of each app: parts of its CPU and display energy, watts in front and behind others,
 *   what goes over WiFi at each level of the signal takes more, as a part of it,
 *   what a byte over the air cost in each stretch of use, or in some that follow each other, against the mean,
 *   what an app drew before it changed, against now,
 *   the curve of the gauge.
 *
 * All in J as the battery shows them; the error of its full charge comes last (overlay.c).
 */

#include "fit/algebra.h"
#include "model/model.h"
#include "observation/everyday.h"

#define DESIGN_APPS_MAX 48    /* those with most energy; others keep the usual misfit */
#define DESIGN_CHANGES_MAX 4
#define DESIGN_RADIO_MAX 64   /* columns; of more stretches, as where a device sleeps after each percent, some share one */
#define DESIGN_ROWS_MAX 1500  /* the newest: six weeks of everyday use */

/* What is learnt of each app. */
enum learnt {
        LEARNT_CPU,
        LEARNT_DISPLAY,
        LEARNT_FRONT,
        LEARNT_BEHIND,
        LEARNT_COUNT
};

enum term design_learnt_term(enum learnt learnt);

struct design_app {
        char id[APP_ID_MAX];
        double energy_j;               /* by the calibration */
        double amount[LEARNT_COUNT];   /* J, or s, in all rows */
        size_t column[LEARNT_COUNT];   /* SIZE_MAX: it never did that ... */
        bool always[LEARNT_COUNT];     /* ... or always */
};

/* From then on an app, or a component of all that is used, needs more or less than before. */
struct design_change {
        size_t app;                    /* SIZE_MAX: a component */
        enum component component;
        size_t stretch;                /* the first one after it */
        int64_t time_ns;
        double before;                 /* part of its energy that it needed more before, +-; set by the fit */
        double before_se;
};

struct design_row {
        const struct everyday *everyday;
        size_t stretch;                /* rows without a break between them */
        double energy_j;               /* as the battery showed */
        double model_j;                /* by the present coefficients */
        double seconds;
        double late_s;                 /* of the step at its end, and of that at its start */
        double late_before_s;
        double extra_j2;               /* variance of what the columns cannot show */
};

/* Levels of the signal, below 1 mW: linear between them. A card shows -30 to -90 dBm. */
#define DESIGN_SIGNALS 4
extern const uint32_t design_signals[DESIGN_SIGNALS];

struct design {
        const struct profile *prior;   /* the calibration's coefficients alone */
        size_t p;                      /* of them */
        size_t q;                      /* all columns */
        struct design_row *rows;
        size_t n;
        gsl_matrix *x;                 /* n x q, J per unit of each column */
        size_t common;                 /* first column of those of COMPONENT_COUNT components */
        struct design_app *apps;
        size_t n_apps;
        size_t n_stretches;
        double shared;                 /* part of the rows whose CPU time was shared by the time at each frequency */
        size_t signal;                 /* first column of those of signals; SIZE_MAX: no signal is known */
        size_t *stretch_radio;         /* column, or SIZE_MAX where nothing was sent */
        struct design_change changes[DESIGN_CHANGES_MAX];
        size_t change_column[DESIGN_CHANGES_MAX];
        size_t n_changes;
        size_t waves;                  /* first column of the gauge's curve */
};

/*
 * @list: ascending in time, must outlive the design. @changes: known so far.
 * 0; -ENODATA: no row; -ENOMEM.
 */
int design_make(const struct profile *prior, const struct everyday *list, size_t n, const struct design_change *changes,
                size_t n_changes, struct design *ret);
void design_clear(struct design *design);

/* The coefficients (p) that values of the columns (q) mean. */
void design_coefficients(const struct design *design, const double *values, double *coefficients);
/* Fills the rows with the energies that each app has by these values of the columns. */
int design_fill(struct design *design, const double *values);
/* Energy of each app in each row by the last design_fill(), to look for changes; n. */
void design_app_energies(const struct design *design, size_t app, double *energy_j);
