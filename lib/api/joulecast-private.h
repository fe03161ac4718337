/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The opaque types of include/joulecast.h. */

#include "forecast/advice.h"
#include "forecast/endure.h"
#include "joulecast.h"
#include "model/profile.h"
#include "store/store.h"
#include "util/log.h"

struct joulecast_context {
        struct log log;
        joulecast_log_handler handler;
        void *data;
        char *device;
        char *machine;
        uint64_t last_id; /* id of the profile that was loaded last in this context */
};

struct joulecast_profile {
        struct joulecast_context *context;
        struct profile *profile;
        uint64_t id;
        char (*keys)[PROFILE_KEY_MAX];
};

struct joulecast_cost {
        struct cost *cost;
};

struct joulecast_forecast {
        struct forecast forecast;
};

struct joulecast_budget {
        struct budget budget;
};

struct joulecast_plan {
        struct budget_plan plan;
        char *names[BUDGET_RESERVES_MAX + 1]; /* names of the app and the reserves, owned */
};

struct joulecast_change {
        struct changes changes;
        char *names[CHANGE_APPS_MAX]; /* names of the apps to close, owned */
};

struct joulecast_gain {
        struct gain gain;
};

struct joulecast_goal {
        struct endure_goal goal;
        char *app, *without[ENDURE_WITHOUT_MAX];
};

struct joulecast_endurance {
        struct endurance endurance;
};

struct joulecast_usage {
        struct joulecast_context *context;
        struct store *store;            /* NULL: the service is asked */
        char *service;                  /* its socket */
        int64_t uid;                    /* this user's apps, and one for all other users, are visible; -1: all are */
        bool live;                      /* the present battery belongs to this database */
        bool stale;                     /* at the last reading, a supply stayed online although it was unplugged */
        struct forecast_battery now;    /* the battery at the last reading, where it is live */
        struct forecast_battery stored; /* the battery as last stored; read once */
        int64_t stored_ns;              /* realtime */
        bool stored_read;
        struct history *history;        /* by the profile of history_id; made when needed */
        uint64_t history_id;
        bool whole;                     /* the history has all days */
        struct history *names;          /* names of all days' apps; made when an app is not found */
        struct profile *learnt;         /* the history's, with suspend power from sleeps; or NULL */
};

/*
 * The history of @usage by @profile; kept for the next call. @missing: an app that was not found in that of
 * the last days, or NULL. With it, all days are read if any of them has the app; else only the names of their apps
 * are. 0; -ENODATA; -errno.
 */
int api_usage_history(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *missing,
                      const struct history **ret);
/* Finds the changes that would gain most now, as advice_make(). 0; a negative errno. */
int api_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile, struct advice_list *ret);
/* Logs that no app has that name, or several do; returns -ENODATA. @kinds: it may also mean a kind of change. */
int api_not_found(const struct joulecast_usage *usage, const struct history *history, const char *app, bool kinds);
/*
 * The battery as it is now, else as it was stored last; it may be unknown. A supply that stays online although it
 * was unplugged supplies nothing; that is judged by @profile, or by the device's own profile if it is NULL.
 * 0, or a negative errno.
 */
int api_usage_battery(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                      const struct forecast_battery **ret);
/* As joulecast_cost_new(), but apps need no intervals, which take most of the time. */
int api_cost_sums(const struct joulecast_profile *profile, struct joulecast_usage *usage, int64_t from_ns,
                  int64_t to_ns, struct joulecast_cost **ret);
/*
 * After api_usage_battery(): the level that the recorder counts with while it does not believe the level that is shown
 * now, which moved faster than any load can. NaN: the shown level is believed.
 */
double api_usage_counted_percent(struct joulecast_usage *usage);
/* 1: something feeds the machine beside its batteries; 0: nothing does; -1: not known. */
int api_usage_plugged(const struct forecast_battery *battery);
struct api_missing {
        const char *app; /* NULL: none */
        bool kinds;      /* it may also mean a kind of change */
};

/* Answers a question from a history; @missing: gets the app that is not found, with -ENODATA. */
typedef int (*api_question)(const struct history *history, const void *asked, const struct forecast_battery *battery,
                            struct api_missing *missing, void *ret);
/*
 * Asks @question with the history of the last days and the battery as it is now; with all days if they have an app
 * that the last days lack. 0; a negative errno.
 */
int api_answer(struct joulecast_usage *usage, const struct joulecast_profile *profile, api_question question,
               const void *asked, void *ret);
/* Charge in percent. 0; -ENODEV: unknown. */
int api_usage_percent(const struct forecast_battery *battery, double *ret);

/* Logs why a context has no default path; returns @err. */
int api_no_path(const struct joulecast_context *context, int err);

static inline struct joulecast_value api_value(struct cost_value value)
{
        return (struct joulecast_value){ value.value, value.low, value.high };
}
