/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The fewest changes with which the charge lasts as long as wished: even the low end of its interval does, so 19 times
 * in 20. docs/what-if.md says how they are found.
 */

#include "whatif.h"

#define ENDURE_CHANGES_MAX 4
#define ENDURE_CANDIDATES_MAX 12
#define ENDURE_WITHOUT_MAX 32

/* In the order in which ties are broken: changes that cost less comfort come first. */
enum endure_kind {
        ENDURE_BRIGHTNESS,
        ENDURE_LIMIT,    /* frozen in the background */
        ENDURE_CELLULAR, /* off */
        ENDURE_WIFI,     /* off */
        ENDURE_CLOSE,
        ENDURE_POWER_PROFILE, /* without a price: it gains no minutes here, and is never found */
        ENDURE_KINDS
};

extern const char *const endure_words[ENDURE_KINDS]; /* as in JSON */
int endure_kind(const char *word); /* -EINVAL: there is no such kind */

struct endure_change {
        enum endure_kind kind;
        char app[APP_ID_MAX], name[APP_ID_MAX]; /* the app to freeze or close; "" for other kinds */
        double brightness_percent;              /* percent of the highest brightness; NaN: another kind */
        struct cost_value gained;               /* minutes that this change gains alone; NaN: unknown */
};

struct endure_goal {
        double minutes;
        const char *app;                        /* app in the foreground until then; NULL: use goes on as it is */
        double battery_percent;                 /* NaN: as the battery shows */
        /* Changes to exclude: each a word of endure_words, an app, or both as in "limit:APP". */
        const char *without[ENDURE_WITHOUT_MAX];
        size_t n_without;
};
#define ENDURE_GOAL_NONE { .minutes = NAN, .battery_percent = NAN }

struct endurance {
        double goal_minutes;
        char app[APP_ID_MAX];                   /* "": mixed use */
        struct cost_value before, after;        /* minutes that the charge lasts, without the changes and with them */
        /* Minutes by which after.low misses the goal; 0: it suffices; NaN: after.low is unknown. */
        double short_minutes;
        int suffices;                           /* 1, 0; -1: unknown */
        struct endure_change list[ENDURE_CHANGES_MAX];
        size_t n;                               /* 0: nothing needs to be changed, or nothing helps */
        double battery_percent;
        char basis[FORECAST_BASIS_MAX];
};

/* The changes together, as for whatif_gain(); they refer to @list. */
struct changes endure_changes(const struct endure_change *list, size_t n);

/**
 * endure_make() - the fewest changes that suffice
 * @missing: gets the app that was never seen, or NULL; may be NULL
 *
 * If no ENDURE_CHANGES_MAX of them do, those that help most, one after another.
 *
 * Return: as whatif_gain().
 */
int endure_make(const struct history *history, const struct endure_goal *goal, const struct forecast_battery *battery,
                const char **missing, struct endurance *ret);
