/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Mixed use with a change by the user: a darker screen, a closed app, a radio off. The energy that the change saves is
 * a part of all that was used, now and usually, and block by block.
 */

#include "mixed.h"
#include "whatif.h"

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
