/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Everyday observations as a system of linear equations. A row is the energy that the battery gave between two steps
 * of its level; its columns are, in this order,
 *
 *   the coefficients of the calibration,
 *   the difference from the calibration of each component as a whole, and of the bytes over WiFi,
 *   the learnt values of each app: parts of its CPU and display energy, watts in the foreground and background,
 *   the additional energy of WiFi traffic at each signal level, relative to that traffic's energy,
 *   the cost of a byte over the air in each stretch of use (or in a few consecutive ones), relative to the mean,
 *   with a meter: the energy in each ten minutes, relative to that of others,
 *   the energy of an app or component before it changed, relative to now,
 *   the curve of the gauge.
 *
 * All are in J as the battery shows them; the error of its full charge comes last (overlay.c).
 */

#include "fit/algebra.h"
#include "model/model.h"
#include "observation/everyday.h"

#define DESIGN_APPS_MAX 48    /* the apps with the most energy; others keep the usual misfit */
#define DESIGN_CHANGES_MAX 4
/* Columns for stretches; if there are more stretches (a device that sleeps after each percent), some share one. */
#define DESIGN_RADIO_MAX 64
#define DESIGN_SESSIONS_MAX 32 /* stretches of ten minutes with a column: the newest ones */
#define DESIGN_ROWS_MAX 1500  /* the newest: six weeks of everyday use */

/* The values that are learnt for each app. */
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
        double busy_s, any_s;          /* CPU time, and time while any of its cores was busy */
        size_t column[LEARNT_COUNT];   /* SIZE_MAX: no column, as its amount is too small ... */
        bool always[LEARNT_COUNT];     /* ... or as it does this nearly always */
};

/* Parts of the energy that may differ as a whole: each component, and ... */
enum {
        DESIGN_AIR = COMPONENT_COUNT, /* the bytes over WiFi, without association and bursts */
        DESIGN_COMMON,                /* number of parts that have a column */
        DESIGN_ALL = DESIGN_COMMON,   /* everything changed, as when the battery's full charge changed */
        DESIGN_PARTS,
};

bool design_has_term(unsigned part, enum term term);

/* A time from which an app, or one part of the energy of all apps, needs more or less than before. */
struct design_change {
        size_t app;                    /* SIZE_MAX: all apps, in `part` */
        unsigned part;
        size_t stretch;                /* the first one after the change */
        int64_t time_ns;
        double lead;                   /* log likelihood ratio to the next best explanation, including no change */
        size_t n_before, n_after;      /* stretches that used it */
        double before;                 /* additional energy before the change, relative (+-); set by the fit */
        double before_se;
};

/* How the power of an app and of daemons varies in time, estimated from the rows. */
struct scatter {
        double within, tau_s;          /* variation of one app in time, relative to its energy, and its time constant */
        double background_w;           /* standard deviation of daemons that no counter shows */
        bool learnt;
};

struct design_use {                    /* an app in a row, by the last design_fill() */
        size_t row;
        const struct design_app *app;  /* NULL: it has no columns */
        double energy_j;               /* without the base */
        double seconds;
};

struct design_row {
        const struct everyday *everyday;
        size_t stretch;                /* rows without a break between them */
        size_t session;                /* column of its ten minutes; SIZE_MAX: none */
        double energy_j;               /* as the battery showed */
        double model_j;                /* by the present coefficients */
        double seconds;
        double late_s;                 /* most delay with which the step at its end, and at its start, was seen */
        double late_before_s;
        double extra_j2;               /* variance that the columns cannot explain */
        double within_j2;              /* variance of the apps in time, by design.scatter */
        size_t first_use;              /* in design.uses */
};

/* Signal levels, in dB below 1 mW; linear between them. A card shows -30 to -90 dBm. */
#define DESIGN_SIGNALS 4
extern const uint32_t design_signals[DESIGN_SIGNALS];

struct design {
        const struct profile *prior;   /* the calibration's coefficients alone */
        size_t p;                      /* number of the calibration's coefficients */
        size_t q;                      /* number of all columns */
        struct design_row *rows;
        size_t n;
        gsl_matrix *x;                 /* n x q, J per unit of each column */
        double unequal;                /* standard deviation of the charge of one shown percent (percents.h) */
        bool metered;                  /* each row is from a meter, none from level steps */
        struct scatter scatter;
        struct design_use *uses;
        size_t n_uses;
        size_t common;                 /* first of the columns of the DESIGN_COMMON parts */
        struct design_app *apps;
        size_t n_apps;
        size_t n_stretches;
        double shared;                 /* part of the rows whose CPU time was split by the time at each frequency */
        size_t signal;                 /* first column of the signal levels; SIZE_MAX: no signal is known */
        size_t *stretch_radio;         /* column of each stretch; consecutive ones may share one */
        struct design_change changes[DESIGN_CHANGES_MAX];
        size_t change_column[DESIGN_CHANGES_MAX];
        size_t n_changes;
        size_t waves;                  /* first column of the gauge's curve */
};

/*
 * @list: ascending in time, must outlive the design. @changes: those known so far.
 * 0; -ENODATA: no row; -ENOMEM.
 */
int design_make(const struct profile *prior, const struct everyday *list, size_t n, const struct design_change *changes,
                size_t n_changes, struct design *ret);
void design_clear(struct design *design);

/* Fills the rows with the energy of each app by these values of the columns. */
int design_fill(struct design *design, const double *values);
/* Sets within_j2 of each row from design->scatter. */
void design_vary(struct design *design);
