/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Behind include/joulecast.h: what its opaque types are. */

#include "forecast/forecast.h"
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
        uint64_t last_id; /* of the profiles made */
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
        char *names[BUDGET_RESERVES_MAX + 1]; /* the app's and the reserves', where the plan has its own */
};

struct joulecast_usage {
        struct joulecast_context *context;
        struct store *store;            /* NULL: the service is asked */
        char *service;                  /* its socket */
        int64_t uid;                    /* who looks: sees their own apps, and one for all others'; -1: sees all */
        bool live;                      /* the battery of the machine is this database's */
        struct forecast_battery now;    /* as it was when last asked for, where it is live */
        struct forecast_battery stored; /* as the store has it last; of one moment, so it is read once */
        bool stored_read;
        struct history *history;        /* by the profile of history_id, made when first asked */
        uint64_t history_id;
        struct profile *learnt;         /* the history's, where sleeps say more of suspend than the profile; or NULL */
};

/* The history of @usage by @profile, and the battery; kept for the next question. 0; -ENODATA; -errno. */
int usage_history(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                  const struct history **ret);
const struct forecast_battery *usage_battery(struct joulecast_usage *usage);
/* What --battery-percent, a live battery and the last stored one come down to for people. */
int usage_percent(const struct forecast_battery *battery, double *ret);

/* Tells the log why no path was found for what a context has of its own; returns @err. */
int context_tell_path(const struct joulecast_context *context, int err);

static inline struct joulecast_value value_out(struct cost_value value)
{
        return (struct joulecast_value){ value.value, value.low, value.high };
}
