/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The gain of a change: how much longer the battery lasts with it, if use otherwise goes on as it is. docs/what-if.md
 * says what each change means, and how the interval is made.
 */

#include "forecast.h"

#define CHANGE_APPS_MAX 16
/* Components that can be off. */
#define CHANGE_OFF_ALL                                                                                                 \
        (UINT32_C(1) << COMPONENT_DISPLAY | UINT32_C(1) << COMPONENT_WIFI | UINT32_C(1) << COMPONENT_CELLULAR |        \
         UINT32_C(1) << COMPONENT_GPS | UINT32_C(1) << COMPONENT_AUDIO)

struct changes {
        const char *close[CHANGE_APPS_MAX]; /* ids, names or parts of them */
        size_t n_close;
        uint32_t behind;           /* 1 << place in close: only frozen in the background, unchanged in the foreground */
        uint32_t off;              /* 1 << component, of CHANGE_OFF_ALL */
        double brightness_percent; /* percent of the highest brightness; NaN: unchanged */
        double keep_minutes;       /* minutes that the changes last; NaN: until the battery is empty */
        double battery_percent;    /* NaN: as the battery shows */
};
#define CHANGES_NONE { .brightness_percent = NAN, .keep_minutes = NAN, .battery_percent = NAN }

struct gain {
        struct cost_value gained;   /* minutes; below 0: the battery lasts less long. NaN: unknown, as in a budget */
        struct cost_value minutes;  /* without the change, as a budget says */
        struct cost_value changed;  /* with it */
        double battery_percent;
        char apps[CHANGE_APPS_MAX][APP_ID_MAX]; /* ids of the apps that are closed, each once */
        size_t n_apps;
        bool nothing;               /* the change has no effect: the part that is off, or the app, is not used */
        char basis[FORECAST_BASIS_MAX];
};

/* The driver's brightness value for @percent. */
uint32_t whatif_brightness(const struct profile *profile, double percent);

/**
 * whatif_gain() - how many minutes a change gains
 * @missing: gets the app that was never seen, or NULL; may be NULL
 *
 * Return: 0; -ENODATA: an app was never seen; -ENODEV: the charge is unknown; -EINVAL; -ENOMEM.
 */
int whatif_gain(const struct history *history, const struct changes *changes, const struct forecast_battery *battery,
                const char **missing, struct gain *ret);

/* For several changes to one history, each asked about alone: the part that they share is made once. */
struct mixed;
struct whatif;
int whatif_new(const struct history *history, const struct forecast_battery *battery, double battery_percent,
               struct whatif **ret);
/*
 * Likewise with @app (an index) in the foreground all the time, as in its budget. Other apps are in the background
 * then, so that closing one only affects its background use. -ENODATA: @app never ran.
 */
int whatif_new_app(const struct history *history, size_t app, const struct forecast_battery *battery,
                   double battery_percent,
                   struct whatif **ret);
/* How long the battery lasts without a change. */
const struct budget *whatif_budget(const struct whatif *whatif);
void whatif_freep(struct whatif **whatif);
/* Use as it is now, and as it usually is. */
const struct mixed *whatif_mixed(const struct whatif *whatif);
/*
 * Energy that is left after @minutes with the changes, in J, and the minutes after which nothing is left; both hold 19
 * times in 20, as the low end of a budget. (The low end of `changed` is found at the likely end, where more is
 * unknown.) NaN: something has no price. 0; -errno.
 */
int whatif_surely_left_j(struct whatif *whatif, const struct changes *changes, double minutes, double *ret);
int whatif_surely_minutes(struct whatif *whatif, const struct changes *changes, double *ret);
/* As whatif_gain(), except that the charge is that of whatif_new(). */
int whatif_ask(struct whatif *whatif, const struct changes *changes, const char **missing, struct gain *ret);
