/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the answer, the two ends of the battery's life, and their error. */

#include "future.h"
#include "mixed.h"
#include "whatif.h"

/*
 * Mixed use with a change by the user: a darker screen, a closed app, a radio off. The energy that the change saves is
 * a part of all that was used, now and usually, and block by block.
 */

struct saved {
        struct rate now, usual;       /* power of the device with the change */
        double now_w, usual_w;        /* power that the change saves */
        struct saved_app {
                double now_w, usual_w; /* part of that of this app in the foreground, as by find_apps() */
        } apps[CHANGE_APPS_MAX];
        /* Standard deviation of the saved power beyond the counters: of apps in the foreground; of all else. */
        double front_now_w, front_usual_w, else_now_w, else_usual_w;
        double spread_now_w, spread_usual_w; /* half ranges of the saved power */
        double variance_part;         /* variance of the power that blocks save, in parts of mixed->spread_w squared */
        double common_part;           /* its covariance with the power that blocks use, likewise */
        /* 1 << component: the change affects something without a coefficient, or not counted. */
        uint32_t lacks;
        bool relit;                   /* the change sets the screen's brightness, or switches it off */
};

/* @apps: indices of changes->close. 0; -ENOMEM. */
int saved_make(const struct history *history, const struct changes *changes, const size_t *apps,
               const struct mixed *mixed, struct saved *ret);
void saved_clear(struct saved *saved);

struct whatif {
        const struct history *history;
        const struct forecast_battery *battery;
        double said_percent;
        struct budget budget;      /* without the change */
        struct future future;      /* its drain has no apps */
        struct charge charge;
        double available_j, available_sd_j;
        bool has_app;              /* app is in the foreground all the time; else use is mixed */
        size_t app;
};

/* One question: the gain of some changes. */
struct question {
        const struct whatif *whatif;
        const struct changes *changes;
        struct saved saved;
        struct drain drain;        /* drain with the apps to close */
        double keep_s;
};

/* The time when nothing is left, and the power at that time: minutes per J are 1 / 60 / power_w. */
struct end {
        struct sum sum;
        double seconds, power_w;
        double kept_now_s, kept_usual_s; /* parts of the present and usual use with the change */
        double now_s;
};

/* Energy that is left at a time, with the change or without it. 0; -ENOMEM. */
int whatif_left_at(const struct question *question, bool changed, double seconds, struct end *end, double *left_j);
/*
 * Finds the time at which nothing is left, after the time @low at which @low_j is left. 0; -ERANGE: it lasts for ever;
 * -ENOMEM.
 */
int whatif_find_end(const struct question *question, double low, double low_j, double high, struct end *end);
/* Power at the end, with the energy that is lost because the load lowers the voltage; W. 0; -ENOMEM. */
int whatif_find_power(const struct question *question, bool changed, struct end *end);
void whatif_end_clear(struct end *end);

/*
 * Sets the future's mixed use to its first app, with its background and the base, for ever; the variance is that of the
 * mean power over @seconds (an hour if that is 0, unknown or for ever). 0; -ENODATA; -ENOMEM.
 */
int whatif_make_app(const struct history *history, struct future *future, double seconds);

/*
 * whatif_gained(): the minutes between both ends; whatif_changed(): those until the end with the change; each with its
 * interval. 0; -ENOMEM.
 */
int whatif_gained(const struct question *question, const struct end *with, const struct end *without,
                  struct cost_value *ret);
/* The energy that is left at a time with the change, at least, 19 times in 20; J. 0; -ENOMEM. */
int whatif_least_left_j(const struct question *question, double seconds, double *ret);
int whatif_changed(const struct question *question, const struct end *with, const struct end *without,
                   struct cost_value *ret);
