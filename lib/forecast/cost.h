/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a span of time cost, and who had it: a usage times a profile. The rows
 * sum to the battery: apps + base + unexplained = measured, always; a row that is
 * unknown is in no sum.
 */

#include "interval/interval.h"
#include "model/model.h"
#include "model/profile.h"
#include "store/store.h"
#include "usage-table.h"

#define COST_LEVEL 0.95 /* of the intervals of what is past */

/* With its interval. Each NaN: unknown. low is never below 0. */
struct cost_value {
        double value, low, high;
};

struct cost_app {
        char app[APP_ID_MAX];
        char *name;                   /* as people know it */
        enum app_state state;
        double active_s;              /* alive in that state; foreground: had the screen */
        struct cost_value energy_j;   /* of the components that are known; NaN: none of those that it used is */
        struct cost_value percent;    /* of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct cost_value percent_per_minute; /* of active_s */
        double component_j[COMPONENT_COUNT];  /* NaN unknown; 0 where it was not used */
};

struct cost {
        int64_t from_ns, to_ns;       /* realtime of what the database has of the span; INT64_MIN: no times (a table) */
        double measured_j;            /* what the battery gave; NaN: not known */
        double measured_percent;
        struct cost_value total_j;    /* base and apps, as the model says it; the apps alone where base is unknown */
        double base_j;                /* nobody's; NaN unknown */
        double base_idle_j;           /* awake and suspended, with what no process owns of CPU, disk and GPU */
        double base_wifi_j;
        double base_display_j;        /* the screen on for nobody */
        double unexplained_j;         /* measured - base - apps; NaN where the battery was not watched throughout */
        unsigned n_sleeps;            /* of this device, whose power suspended time is priced by; 0: by the profile's */
        char **not_measured;
        size_t n_not_measured;
        struct cost_app *apps;        /* dearest first */
        size_t n_apps;
};

/**
 * cost_make() - cost of a span
 * @ret:  free it with cost_free(); written only on success
 *
 * Return: 0; -ENODATA: nothing is stored of that span; another negative errno.
 */
int cost_make(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
              struct cost **ret);
/* As the user @uid may see it: their own apps, and one for all others'. -1: everybody's. */
int cost_make_for(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns,
                  int64_t to_ns, struct cost **ret);
/* The same of a usage table: no battery, no base. */
int cost_make_from_table(const struct profile *profile, const struct usage_table *table, struct cost **ret);
void cost_free(struct cost *cost);
void cost_freep(struct cost **cost);

/* The pieces, for tests and for other sources of rows: begin, add rows, finish. */
struct cost_maker;

int cost_maker_new(struct cost_maker **ret);
void cost_maker_free(struct cost_maker *maker);
void cost_maker_freep(struct cost_maker **maker);
int cost_maker_add(struct cost_maker *maker, const struct store_row *row);
/* @battery may be NULL: not known. */
int cost_maker_finish(struct cost_maker *maker, const struct profile *profile,
                      const struct store_battery *battery, struct cost **ret);
