/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Energy of a span of time by app: a usage times a profile. Rows always add up:
 * apps + base + unexplained = measured; an unknown row is in no sum.
 */

#include "interval/interval.h"
#include "model/model.h"
#include "model/profile.h"
#include "store/store.h"
#include "usage-table.h"

#define COST_LEVEL 0.95 /* of the confidence intervals of past costs */

/* With its interval. Each NaN: unknown. low is never below 0, but that of what is unexplained. */
struct cost_value {
        double value, low, high;
};

struct cost_app {
        char app[APP_ID_MAX];
        char *name;                   /* display name */
        enum app_state state;
        double active_s;              /* alive in that state; foreground: had the screen */
        struct cost_value energy_j;   /* of the known components; NaN: all that it used are unknown */
        struct cost_value percent;    /* of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct cost_value percent_per_minute; /* of active_s */
        double component_j[COMPONENT_COUNT];  /* NaN unknown; 0 where it was not used */
        struct usage usage;           /* what was priced; empty if the service did it */
};

struct cost {
        int64_t from_ns, to_ns;       /* realtime, what the database has of the span; INT64_MIN: a table has no times */
        double recorded_s;            /* thereof recorded; NaN: unknown */
        struct cost_value measured_j; /* that the battery gave, within the steps of its gauge; NaN: unknown */
        double measured_percent;      /* of a full battery: measured_j / (0.036 * energy_full_mwh) */
        struct cost_value total_j;    /* model total: base and apps; only the apps where base is unknown */
        double base_j;                /* that no app causes; NaN: unknown */
        double base_idle_j;           /* awake and suspended, with CPU, disk and GPU of no process */
        double base_wifi_j;
        double base_display_j;        /* the screen on without an app */
        struct usage base_usage;      /* as of an app */
        struct cost_value unexplained_j; /* unattributed: measured - base - apps; NaN: not on battery all the time */
        double cpu_spread_j;          /* half the range of the operating points that CPU time may have had; 0: all known */
        double disk_spread_j;         /* half the range of its storages' coefficients, in the intervals; 0: they have one */
        unsigned n_sleeps;            /* sleeps that suspended time is priced by; 0: by the profile */
        char **not_measured;
        size_t n_not_measured;
        struct cost_app *apps;        /* by energy, highest first */
        size_t n_apps;
};

/**
 * cost_make() - cost of a span
 * @ret:  free it with cost_free(); written only on success
 *
 * Return: 0; -ENODATA: nothing is stored in that span; another negative errno.
 */
int cost_make(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
              struct cost **ret);
/* For user @uid: their own apps, and one for all other users. -1: all apps. */
int cost_make_for(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns,
                  int64_t to_ns, struct cost **ret);
/* The same of all time by a blank profile: how long each app was there, and no energy. It is read in a part of the time. */
int cost_make_times(struct store *store, int64_t uid, struct cost **ret);
/* Of a usage table, which has no battery and no base. */
int cost_make_from_table(const struct profile *profile, const struct usage_table *table, struct cost **ret);
/*
 * Of @n intervals that follow one another and were just made, for user @uid as cost_make_for(). The level of a battery moves in
 * steps and says nothing of seconds: measured_j and unexplained_j are by its current sensor at the end of each, without bounds.
 */
int cost_make_now(const struct profile *profile, const struct interval *list, size_t n, int64_t uid, struct cost **ret);
/* What that sensor shows, in W; NaN: there is none, or the battery does not discharge. */
double cost_sensor_w(const struct battery *battery);
void cost_free(struct cost *cost);
void cost_freep(struct cost **cost);

/* The pieces, for tests and for other sources of rows: begin, add rows, finish. */
struct cost_maker;

int cost_maker_new(struct cost_maker **ret);
void cost_maker_free(struct cost_maker *maker);
void cost_maker_freep(struct cost_maker **maker);
int cost_maker_add(struct cost_maker *maker, const struct store_row *row);
/* @battery may be NULL: unknown. */
int cost_maker_finish(struct cost_maker *maker, const struct profile *profile,
                      const struct store_battery *battery, struct cost **ret);
