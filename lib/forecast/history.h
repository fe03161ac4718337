/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Recorded usage as a forecast needs it: in blocks of several minutes (recent
 * polls), hours and days, each with the energy of each app and of the background
 * by one profile.
 */

#include <math.h>

#include "interval/interval.h"
#include "model/model.h"
#include "model/profile.h"
#include "store/store.h"
#include "util/tuning.h"
#include "util/util.h"

/* An app in one state. */
struct history_state {
        struct model_vector sum;  /* weights of all its usage */
        double active_s;
        struct model_vector recent; /* the same, but older sessions have less weight */
        double recent_s;
        double session_s;         /* length of the last session so far */
        int64_t last_ns;          /* end of that session */
};

struct history_app {
        char *app, *name;
        struct history_state states[2]; /* by enum app_state */
        int64_t seen_ns;                /* the end of the last poll in which it ran */
};

/* One app in one state in one block. */
struct history_use {
        unsigned app : 31, state : 1; /* enum app_state; there are many of these */
        uint32_t block;
        double active_s;
        double energy_mj;
        double unlit_mj;  /* energy_mj without the screen */
};

struct history_block {
        int64_t start_ns, end_ns; /* realtime */
        double awake_s;
        double suspend_s;
        double foreground_s;      /* an app had the screen */
        double *background;       /* weights of all apps in the background, n_coefficients */
        double *total;            /* weights of all apps and the base */
};

/* Energy that an app in the foreground used in a span. */
struct history_part {
        uint32_t app;
        double energy_j; /* by the model */
        double age;      /* how many sessions ago */
};

/* Time on battery from one step of its level to a later one, with the measured energy and the model's. */
struct history_span {
        int64_t end_ns;
        bool follows;             /* begins where the one before ends */
        double seconds;           /* awake */
        double measured_j, model_j;
        double *total;            /* weights, n_coefficients */
        struct history_part *parts;
        size_t n_parts;
};

struct history {
        const struct profile *profile;
        struct history_app *apps;
        size_t n_apps;
        struct history_block *blocks; /* ascending */
        size_t n_blocks;
        struct history_use *uses;     /* ascending by block */
        size_t n_uses;
        struct history_span *spans;   /* ascending; of the last polls */
        size_t n_spans;
        uint32_t brightness;          /* brightness of the screen when it was last on; BRIGHTNESS_UNKNOWN */
        struct model_vector base;     /* base while awake, without the screen */
        struct model_vector background;
        double awake_s, suspend_s;
        bool others;                  /* STORE_OTHERS is among the apps */

        struct store_poll *levels;   /* battery levels of the polls whose rows follow, ascending; for the spans */
        size_t n_levels;
        struct history_reader *reader;
        struct {
                size_t apps, blocks, uses, spans, levels;
        } capacity;
};

/**
 * history_read() - read what is stored
 * @profile: must outlive the history
 *
 * Polls of the last hours, hours of the last week, and all days before that (tuning.h).
 *
 * Return: 0; -ENODATA: nothing is stored; another negative errno.
 */
int history_read(const struct profile *profile, struct store *store, struct history **ret);
enum history_extent {
        HISTORY_RECENT, /* TUNING_DAY_DAYS of the days */
        HISTORY_WHOLE,  /* all days */
};
/*
 * For user @uid: the apps of other users are one, which history_find() does not find. -1: all apps.
 */
int history_read_for(const struct profile *profile, struct store *store, int64_t uid, enum history_extent extent,
                     struct history **ret);
/* The ids and names of all recorded apps and nothing else: for history_find() and history_offer(). */
int history_read_names(const struct profile *profile, struct store *store, int64_t uid, struct history **ret);
/* The recent days, but only what was recorded until @until_ns. */
int history_read_until(const struct profile *profile, struct store *store, int64_t until_ns, struct history **ret);
size_t history_bytes(const struct history *history); /* memory that it takes, about */
void history_free(struct history *history);
DEFINE_CLEANUP(struct history, history_free)

/* The pieces, for tests and for other sources of rows: new, polls of the battery, rows ascending in time, done. */
int history_new(const struct profile *profile, struct history **ret);
int history_add_level(struct history *history, const struct store_poll *level);
int history_add(struct history *history, const struct store_row *row);
int history_add_name(struct history *history, const struct store_row *row);
int history_finish(struct history *history);

/* After a use that ended at @last_ns, is one from @start_ns on another session? */
static inline bool history_is_new_session(int64_t last_ns, int64_t start_ns)
{
        return start_ns > last_ns + (int64_t)(TUNING_SESSION_GAP_S * 1e9);
}

/* How much a session of that length counts against a full one (TUNING_SESSION_S), 0 to 1. */
static inline double history_session_part(double seconds)
{
        return fmin(seconds / TUNING_SESSION_S, 1);
}

/* Index of an app by its id, its display name or a part of one of them; -ENOENT; -EEXIST: several have it. */
ssize_t history_find(const struct history *history, const char *app);
/* Ids of the apps that match best, else of the app that was probably meant; "": there is none. Returns @buf. */
char *history_offer(const struct history *history, const char *app, char *buf, size_t size);
