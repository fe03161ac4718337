/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The pieces a future is made of (apps that run, standing by), and sums of
 * them: what forecast and budget share.
 */

#include "charge.h"
#include "forecast.h"
#include "rate.h"

#define MINUTES_MAX 1e6 /* two years */
#define ACTORS_MAX (BUDGET_RESERVES_MAX + 1)

/* An app that runs for a while: its own power, and what others draw meanwhile. */
struct actor {
        size_t app;
        struct rate own;
        struct rate background;
};

struct future {
        const struct history *history;
        struct actor actors[ACTORS_MAX]; /* [0] plays; the others are reserves */
        size_t n_actors;
        struct rate other;               /* background while an app that is no actor has the screen */
        struct rate standby;             /* background while none has */
        struct rate base;
        double suspend_share;            /* of standing by */
};

/* @apps: indices in @history, at most ACTORS_MAX. 0; -ENODATA: one was never seen running; -ENOMEM. */
int future_make(const struct history *history, const size_t *apps, size_t n_apps, struct future *future);
void future_clear(struct future *future);

/*
 * What a forecast rests on, a sentence; @said: the charge that the user says, or NaN; @unpriced: components that
 * are not, or not wholly, in it. FORECAST_BASIS_MAX bytes.
 */
void future_basis(const struct future *future, const struct forecast_battery *battery, double said,
                  uint32_t unpriced, char *basis);

/* Energy to come: weights for the model, and the variance of what is not the model's. */
struct sum {
        struct model_vector vector;
        double variance_j2;
        double seconds;           /* awake, for the daemons */
        double energy_j, squares; /* of power times time, and of power squared times time: the mean load of a joule */
};

int sum_add(struct sum *sum, const struct rate *rate, double seconds);
/* Actor @i for so long, with base and background; standing by for so long. 0; -ENOMEM. */
int sum_actor(struct sum *sum, const struct future *future, size_t i, double seconds);
int sum_standby(struct sum *sum, const struct future *future, double seconds);
void sum_clear(struct sum *sum);
/* What the model says; NaN: it knows nothing of it. */
double sum_energy_j(const struct sum *sum, const struct profile *profile);
double sum_sd_j(const struct sum *sum, const struct profile *profile);

/*
 * The load under which the battery was read (below 0: it charged),
 * and the part of its energy that a sum's load costs beyond that.
 */
double future_read_load_w(const struct future *future, const struct forecast_battery *battery);
double future_sag(const struct future *future, const struct charge *charge, double read_w,
                  const struct sum *sum);
