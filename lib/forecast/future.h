/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parts of a future (apps that run, standby) and their sums, which forecast
 * and budget share.
 */

#include "charge.h"
#include "forecast.h"
#include "history.h"
#include "mixed.h"
#include "rate.h"

/*
 * The model's error, learnt from the energy that the battery gave lately: a regression of the measured energy on the
 * model's, whose prior is the model's own covariance, a factor common to all, and two factors for each app in the
 * foreground: one for what its kind of work always costs against the calibration's, and one that changes from session
 * to session or with an update. The size of such factors is not known; a few cases of sizes are solved, and each is
 * weighted by the likelihood that it gives the data.
 */

#define DRAIN_SPANS 64 /* the newest */
#define DRAIN_CASES 12

struct drain {
        size_t n, n_coefficients, n_apps;
        double *covariance_j2;  /* n x n_coefficients: covariance of a span's energy with a weight of one */
        double *model_j;        /* n */
        double *part_j;         /* n x n_apps: foreground energy of the apps that were asked for */
        double *recent_j;       /* the same, decayed by age in sessions, as the factor that changes does */
        struct drain_case {
                double probability;
                double common, always, changes; /* standard deviations of the factors, in parts */
                double *lower;      /* n x n: Cholesky factor of the covariance of the measured energies */
                double *solved;     /* n: inverse of that covariance times the energy that the model left unexplained */
        } cases[DRAIN_CASES];
};

/*
 * @apps: indices in @history, each once in each place of drain_add()'s @own_j. 0; -ENOMEM. Without data it adds
 * nothing.
 */
int drain_make(const struct history *history, const size_t *apps, size_t n_apps, struct drain *ret);
void drain_clear(struct drain *drain);

/**
 * drain_add() - how a future's energy differs from the model's
 * @vector:   weights of the future
 * @energy_j: its energy by the model
 * @own_j:    foreground part of that of each of drain_make()'s apps
 * @shift_j:  gets the amount to add to the energy
 * @variance_j2: gets the amount to add to its variance; may be negative
 */
void drain_add(const struct drain *drain, const struct model_vector *vector, double energy_j, const double *own_j,
               double *shift_j, double *variance_j2);

#define MINUTES_MAX 1e6 /* two years */
#define ACTORS_MAX (BUDGET_RESERVES_MAX + 1)

/* An app that runs for some time: its own power, and that of other apps in that time. */
struct actor {
        size_t app;
        bool foreground;          /* it has the screen then */
        struct rate own;
        struct rate background;
};

struct future {
        const struct history *history;
        struct actor actors[ACTORS_MAX]; /* the app, if there is one; then the reserves */
        size_t n_actors;
        struct rate other;               /* background while another app has the screen */
        struct rate standby;             /* background while no app has it */
        struct rate base;
        double suspend_share;            /* suspended share of standby, 0 to 1 */
        bool tells_standby;              /* standby is asked for: its basis says whether it is suspended or awake */
        struct drain drain;
        bool has_mixed;
        struct mixed mixed;
};

/*
 * @apps: indices in @history, at most ACTORS_MAX; @brightness: of the screen, or BRIGHTNESS_UNKNOWN. 0; -ENODATA: one
 * was never seen running; -ENOMEM.
 */
int future_make(const struct history *history, const size_t *apps, size_t n_apps, uint32_t brightness,
                struct future *future);
/* The same, and mixed use, which is no actor. */
int future_make_mixed(const struct history *history, const size_t *apps, size_t n_apps, uint32_t brightness,
                      struct future *future);
void future_clear(struct future *future);
/* Brightness of the screen, as it is now or was last; BRIGHTNESS_UNKNOWN. */
uint32_t future_brightness(const struct history *history, const struct forecast_battery *battery);

/* The screen for a second at a brightness. 0; -ENOMEM. */
int future_lit(const struct profile *profile, uint32_t brightness, struct model_vector *ret);
/*
 * Prices the screen's part of @weight anew, as bright as @lit; returns the change in W if the weights are for
 * one second.
 */
double future_relight(const struct profile *profile, const struct model_vector *lit, double *weight);

/*
 * A sentence about the data behind a forecast; @said: charge that the user gave, or NaN; @unpriced: components that
 * are not completely priced; @basis has FORECAST_BASIS_MAX bytes.
 */
void future_basis(const struct future *future, const struct forecast_battery *battery, double said,
                  uint32_t unpriced, char *basis);

/* Future energy: weights for the model, and the variance that is not the model's. */
struct sum {
        struct model_vector vector;
        double variance_j2;
        double seconds;           /* awake, for the daemons */
        double misfit_j, misfit_j2; /* sum of what apps may draw beyond their counters, and of its squares */
        double own_j[ACTORS_MAX]; /* energy of each actor while it has the screen */
        double energy_j, squares; /* power times time, and power squared times time: the mean load of a joule */
};

/* Adds a rate for some time, but without any variance. 0; -ENOMEM. */
int future_sum_rate(struct sum *sum, const struct rate *rate, double seconds);
/* Adds what actor @i alone uses. */
int future_sum_own(struct sum *sum, const struct future *future, size_t i, double seconds);
/* Adds actor @i for some time, with base and background; mixed use; standby. 0; -ENOMEM. */
int future_sum_actor(struct sum *sum, const struct future *future, size_t i, double seconds);
int future_sum_mixed(struct sum *sum, const struct future *future, double seconds);
int future_sum_standby(struct sum *sum, const struct future *future, double seconds);
void future_sum_clear(struct sum *sum);
/* Energy by the model and by what the battery gave lately; NaN: no part has a coefficient. */
double future_sum_energy_j(const struct future *future, const struct sum *sum);
double future_sum_sd_j(const struct future *future, const struct sum *sum);

/* The load at which the battery was read, in W (below 0: it charged). */
double future_read_load_w(const struct future *future, const struct forecast_battery *battery);
/* The share of the charge's energy that is lost by the load of a sum; @energy_j: from future_sum_energy_j(). */
double future_sag(const struct future *future, const struct charge *charge, const struct sum *sum, double energy_j);
/* Energy that is left of @available_j, which is that at rest, after a sum; J. */
double future_left_j(const struct future *future, const struct charge *charge, double available_j,
                     const struct sum *sum);
