/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What an app will cost, and how long it can run and leave enough for what is
 * needed later. docs/budget.md tells what the intervals are made of, and how
 * often they held.
 */

#include <stdbool.h>

#include "cost.h"
#include "history.h"

#define FORECAST_LEVEL 0.90 /* so that low alone holds in 95 of 100 cases */
#define FORECAST_BASIS_MAX 512
#define BUDGET_RESERVES_MAX 16

/* What is known of the battery now. */
struct forecast_battery {
        bool known;
        bool live;              /* read just now, not the last one stored */
        struct battery battery;
};

struct forecast {
        char app[APP_ID_MAX];
        double minutes;
        /* high alone is NaN where something that is used has no coefficient. */
        struct cost_value percent;        /* the app's own; of a full battery, by the voltage of today's charge */
        struct cost_value energy_j;
        struct cost_value device_percent; /* with base and the usual background */
        char basis[FORECAST_BASIS_MAX];   /* what it rests on, a sentence or two */
};

struct budget_reserve {
        const char *app;
        double minutes;
};

struct budget_plan {
        const char *app;
        struct budget_reserve reserves[BUDGET_RESERVES_MAX];
        size_t n_reserves;
        double standby_minutes;
        double keep_percent;
        double battery_percent;           /* NaN: what the battery says */
};

struct budget {
        char app[APP_ID_MAX];
        /*
         * low: for sure, in 95 of 100 cases; 1e6 stands for that and more. NaN unknown: low alone where something
         * that is used has no coefficient, so that the minutes are at most value.
         */
        struct cost_value minutes;
        double reserved_percent;          /* for standby, reserves and what is to be kept; NaN unknown */
        double battery_percent;
        char basis[FORECAST_BASIS_MAX];
};

/**
 * forecast_app() - what will it cost?
 * @app:     id or display name
 * @battery: for the voltage of today's charge
 *
 * Return: 0; -ENODATA: the app was never seen; -EINVAL: a time out of range; -ENOMEM.
 */
int forecast_app(const struct history *history, const char *app, double minutes,
                 const struct forecast_battery *battery, struct forecast *ret);

/**
 * forecast_budget() - how long can it run, and leave enough?
 * @missing: gets which app was never seen, or NULL; may be NULL
 *
 * Return: 0; -ENODATA: an app was never seen; -ENODEV: nothing says how full the battery is; -EINVAL;
 * -ENOMEM.
 */
int forecast_budget(const struct history *history, const struct budget_plan *plan,
                    const struct forecast_battery *battery, const char **missing, struct budget *ret);
