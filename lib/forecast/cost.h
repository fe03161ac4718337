/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Energy of a span of time by app: a usage times a profile. Rows always add up:
 * apps + base + unattributed = measured; an unknown row is in no sum.
 */

#include "interval/interval.h"
#include "model/model.h"
#include "model/profile.h"
#include "store/store.h"
#include "usage-table.h"
#include "util/util.h"

#define COST_LEVEL 0.95 /* confidence level of the intervals of past costs */

/* A value with its interval; NaN in any of them: unknown. low is never below 0, except for unattributed energy. */
struct cost_value {
        double value, low, high;
};

/*
 * Joules have an additional error that cancels in percent of the battery. It is not in the values below; code that
 * shows intervals of joules adds it by cost_joules().
 */
struct cost_app {
        char app[APP_ID_MAX];
        char *name;                   /* display name */
        enum app_state state;
        double active_s;              /* alive in that state; foreground: had the screen */
        struct cost_value energy_j;   /* sum of the known components; NaN: all that it used are unknown */
        struct cost_value percent;    /* percent of a full battery: energy_j / (0.036 * energy_full_mwh) */
        struct cost_value percent_per_minute; /* percent per minute of active_s */
        double component_j[COMPONENT_COUNT];  /* NaN unknown; 0 where it was not used */
        struct usage usage;           /* usage that was priced; empty if the service priced it */
};

struct cost {
        int64_t from_ns, to_ns;       /* realtime, part of the span in the database; INT64_MIN: a table has no times */
        double recorded_s;            /* recorded time of that; NaN: unknown */
        struct cost_value measured_j; /* energy that the battery gave, within its gauge's steps; NaN: unknown */
        double measured_percent;      /* percent of a full battery: measured_j / (0.036 * energy_full_mwh) */
        struct cost_value total_j;    /* model total: base and apps; only the apps where base is unknown */
        struct cost_value total_percent; /* only in answers: percent of a full battery */
        double joule_part;            /* half-width of the error of joules, relative; see cost_joules() */
        double base_j;                /* energy that no app causes; NaN: unknown */
        double base_idle_j;           /* awake and suspended, with CPU, disk and GPU use of no process */
        double base_wifi_j;
        double base_display_j;        /* the screen on without an app */
        struct usage base_usage;      /* as an app's usage */
        struct cost_value unexplained_j; /* unattributed: measured - base - apps; NaN: not on battery all the time */
        /* Half the range of energy by the operating points of CPU time, part of the intervals; 0: all are known. */
        double cpu_spread_j;
        /* Half the range of energy by the coefficients of several storages, part of the intervals; 0: there is one. */
        double disk_spread_j;
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
/* The same, but apps have no intervals, which take most of the time; the total has its own. */
int cost_make_sums(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns, int64_t to_ns,
                   struct cost **ret);
/*
 * As cost_make_for() for all time by a blank profile: how long each app was there, and no energy. Reading this takes
 * only a part of the time.
 */
int cost_make_times(struct store *store, int64_t uid, struct cost **ret);
/* Cost of a usage table, which has no battery and no base. */
int cost_make_from_table(const struct profile *profile, const struct usage_table *table, struct cost **ret);
/* The policy that CPU time at a frequency belongs to, where no policy is named. */
uint32_t cost_policy_with(const struct profile *profile, uint32_t khz);
/*
 * Cost of @n consecutive intervals that were just made, for user @uid as cost_make_for(). A battery's level moves in
 * steps that are too large for seconds: measured_j and unexplained_j are by its current sensor at the end of each
 * interval, without bounds.
 */
int cost_make_now(const struct profile *profile, const struct interval *list, size_t n, int64_t uid, struct cost **ret);
/* Power that the current sensor shows, in W; NaN: there is none, or the battery does not discharge. */
double cost_sensor_w(const struct battery *battery);
/* Adds the error of joules to an energy's interval. Not for the energy that the battery itself gave. */
struct cost_value cost_joules(const struct cost_value *energy_j, double joule_part);
/* The same in percent of a full battery. */
struct cost_value cost_percent(const struct cost_value *energy_j, const struct profile *profile);
/* Removes all apps but the first @most from the list; the sums stay. */
void cost_keep_dearest(struct cost *cost, size_t most);
/* Removes all apps but @app from the list; the sums stay. */
void cost_keep_app(struct cost *cost, const char *app);
void cost_free(struct cost *cost);
DEFINE_CLEANUP(struct cost, cost_free)

/* The pieces, for tests and for other sources of rows: begin, add rows, finish. */
struct cost_maker;

int cost_maker_new(struct cost_maker **ret);
void cost_maker_omit_intervals(struct cost_maker *maker); /* the apps get none */
void cost_maker_free(struct cost_maker *maker);
DEFINE_CLEANUP(struct cost_maker, cost_maker_free)
int cost_maker_add(struct cost_maker *maker, const struct store_row *row);
/* Once, as it takes what was added. @battery may be NULL: unknown. */
int cost_maker_finish(struct cost_maker *maker, const struct profile *profile,
                      const struct store_battery *battery, struct cost **ret);
