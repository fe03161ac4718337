/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a change gains: how much longer the battery lasts with it, if use goes on as it is otherwise. docs/what-if.md
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
        uint32_t off;              /* 1 << component, of CHANGE_OFF_ALL */
        double brightness_percent; /* of the brightest; NaN: as it is */
        double keep_minutes;       /* then it is as it was; NaN: until the battery is empty */
        double battery_percent;    /* NaN: as the battery shows */
};
#define CHANGES_NONE { .brightness_percent = NAN, .keep_minutes = NAN, .battery_percent = NAN }

struct gain {
        struct cost_value gained;   /* minutes; below 0: the battery lasts less long. NaN: unknown, as in a budget */
        struct cost_value minutes;  /* without the change, as a budget says */
        struct cost_value changed;  /* with it */
        double battery_percent;
        char apps[CHANGE_APPS_MAX][APP_ID_MAX]; /* ids of those that are closed, each once */
        size_t n_apps;
        bool nothing;               /* it changes nothing: what is off is not used, or the app is not */
        char basis[FORECAST_BASIS_MAX];
};

/* The driver's value. */
uint32_t whatif_brightness(const struct profile *profile, double percent);

/**
 * whatif_gain() - how many minutes a change gains
 * @missing: gets the app that was never seen, or NULL; may be NULL
 *
 * Return: 0; -ENODATA: an app was never seen; -ENODEV: the charge is unknown; -EINVAL; -ENOMEM.
 */
int whatif_gain(const struct history *history, const struct changes *changes, const struct forecast_battery *battery,
                const char **missing, struct gain *ret);

/* Several changes of one history, each alone: the part that they share is made once. */
struct mixed;
struct whatif;
int whatif_new(const struct history *history, const struct forecast_battery *battery, double battery_percent,
               struct whatif **ret);
void whatif_freep(struct whatif **whatif);
/* How use is now, and usually. */
const struct mixed *whatif_mixed(const struct whatif *whatif);
/* As whatif_gain(), but for the charge, which is that of whatif_new(). */
int whatif_ask(struct whatif *whatif, const struct changes *changes, const char **missing, struct gain *ret);
