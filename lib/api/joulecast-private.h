/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The opaque types of include/joulecast.h. */

#include "forecast/advice.h"
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
        uint64_t last_id; /* of the profiles of this context */
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
        char *names[BUDGET_RESERVES_MAX + 1]; /* of the app and the reserves */
};

struct joulecast_change {
        struct changes changes;
        char *names[CHANGE_APPS_MAX]; /* of the apps to close */
};

struct joulecast_gain {
        struct gain gain;
};

struct joulecast_usage {
        struct joulecast_context *context;
        struct store *store;            /* NULL: the service is asked */
        char *service;                  /* its socket */
        int64_t uid;                    /* its own apps, and one for all other users, are visible; -1: all are */
        bool live;                      /* the present battery belongs to this database */
        struct forecast_battery now;    /* when last read, where it is live */
        struct forecast_battery stored; /* last in the store, which is read once */
        bool stored_read;
        struct history *history;        /* by the profile of history_id; made when needed */
        uint64_t history_id;
        bool whole;                     /* the history has all days */
        struct history *names;          /* of all days' apps; made when an app is not found */
        struct profile *learnt;         /* the history's, with suspend power from sleeps; or NULL */
};

/*
 * The history of @usage by @profile; kept for the next call. @missing: an app that was not found in that of the last days,
 * or NULL; then all days are read, if it is found in them, and else they are only known by the names of their apps. 0;
 * -ENODATA; -errno.
 */
int api_usage_history(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *missing,
                      const struct history **ret);
/* What would gain most now, as advice_make(). How many, or a negative errno. */
ssize_t api_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   struct advice ret[ADVICE_MAX]);
/* Logs that no app is called that, or several are; -ENODATA. */
int api_not_found(const struct joulecast_usage *usage, const struct history *history, const char *app);
/* As it is now, else as it was stored last; perhaps not known. 0, or a negative errno. */
int api_usage_battery(struct joulecast_usage *usage, const struct forecast_battery **ret);
/* Charge in percent. 0; -ENODEV: unknown. */
int api_usage_percent(const struct forecast_battery *battery, double *ret);

/* Logs why a context has no default path; returns @err. */
int api_no_path(const struct joulecast_context *context, int err);

static inline struct joulecast_value api_value(struct cost_value value)
{
        return (struct joulecast_value){ value.value, value.low, value.high };
}
