/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The energy that an app will use, and how long it can run and leave enough for what is
 * needed later. docs/budget.md explains the intervals, and how often they held.
 */

#include <stdbool.h>

#include "cost.h"
#include "history.h"
#include "source/battery.h"

#define FORECAST_LEVEL 0.90 /* so that low alone holds in 95 of 100 cases */
#define FORECAST_BASIS_MAX 800
#define BUDGET_RESERVES_MAX 16

/* The present battery, and the screen. */
struct forecast_battery {
        bool known;
        bool live;              /* read just now; else as last stored */
        struct battery battery;
        struct charge_limit limit; /* only where it is live */
        bool screen_known;      /* the brightness was read just now; else the history's is used */
        uint32_t brightness;
};

struct forecast {
        char app[APP_ID_MAX];
        double minutes;
        /* Only high is NaN where the app uses something without a coefficient. */
        struct cost_value percent;        /* the app's own, in percent of a full battery at the present voltage */
        struct cost_value energy_j;
        struct cost_value device_percent; /* with base and the usual background */
        char basis[FORECAST_BASIS_MAX];   /* the data behind it, a sentence or two */
};

struct budget_reserve {
        const char *app;
        double minutes;
};

struct budget_plan {
        const char *app;                  /* NULL: mixed use, as it is now */
        struct budget_reserve reserves[BUDGET_RESERVES_MAX];
        size_t n_reserves;
        double standby_minutes;
        double keep_percent;
        double battery_percent;           /* NaN: as the battery shows */
};

/* The battery on the charger. */
struct budget_charging {
        int charging;                     /* 1 yes, 0 no, -1 unknown; likewise the next two */
        int too_weak;                     /* the level falls although the charger is plugged in */
        int held;                         /* at a charge limit: the charger powers the device, and the level stays */
        double limit_percent;             /* charging ends there; NaN: no limit is set, or it is not kept */
        struct cost_value minutes_to_full; /* or to the limit; NaN: it does not charge, or how fast is not known */
};

struct budget {
        char app[APP_ID_MAX];             /* "": mixed use */
        /*
         * low: holds in 95 of 100 cases; 1e6 stands for that and more. Only low is NaN where the app uses something
         * without a coefficient: value is then an upper limit. Before TUNING_HISTORY_RULES_S were recorded, low is at
         * most what the battery's sensor allows at the present power.
         */
        struct cost_value minutes;
        double recorded_s;                /* recorded use, awake; NaN: unknown, as from an older service */
        double reserved_percent;          /* for standby, reserves and the charge to keep; NaN: unknown */
        double battery_percent;
        struct budget_charging charging;
        char basis[FORECAST_BASIS_MAX];
};

/**
 * forecast_app() - energy that an app will use
 * @app:     id or display name
 * @battery: for the voltage at the present charge
 *
 * Return: 0; -ENODATA: the app was never seen; -EINVAL: a time out of range; -ENOMEM.
 */
int forecast_app(const struct history *history, const char *app, double minutes,
                 const struct forecast_battery *battery, struct forecast *ret);

/**
 * forecast_use() - energy that a device will use while some apps have the screen one after another
 * @apps:     ids, and how long each has it; at most BUDGET_RESERVES_MAX
 * @other_minutes: awake without any of them
 * @energy_j: with base and the usual background
 *
 * Return: 0; -ENODATA: one of the apps was never seen; -EINVAL: too many; -ENOMEM.
 */
int forecast_use(const struct history *history, const struct budget_reserve *apps, size_t n, double other_minutes,
                 const struct forecast_battery *battery, struct cost_value *energy_j);

/**
 * forecast_budget() - how long an app can run and leave enough
 * @missing: gets the app that was never seen, or NULL; may be NULL
 *
 * Return: 0; -ENODATA: an app was never seen; -ENODEV: the charge is unknown; -EINVAL;
 * -ENOMEM.
 */
int forecast_budget(const struct history *history, const struct budget_plan *plan,
                    const struct forecast_battery *battery, const char **missing, struct budget *ret);
