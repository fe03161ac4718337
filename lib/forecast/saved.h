/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Mixed use with a change of the user's: the screen darker, an app closed, a radio off. What the change saves is a
 * part of all that was used, now and usually, and block by block.
 */

#include "mixed.h"
#include "whatif.h"

struct saved {
        struct rate now, usual;       /* of the device with the change */
        double now_w, usual_w;        /* that it saves */
        struct saved_app {
                double now_w, usual_w; /* thereof of this app in the foreground, as in whatif_find_apps() */
        } apps[CHANGE_APPS_MAX];
        /* Standard deviation of what is not known of that, of 1 W: of apps in front; of all else. */
        double front_now_w, front_usual_w, else_now_w, else_usual_w;
        double spread_now_w, spread_usual_w; /* half ranges */
        double variance_part;         /* variance of what blocks save, in parts of mixed->spread_w squared */
        double common_part;           /* its covariance with what blocks use, likewise */
        uint32_t lacks;               /* 1 << component: the change is of something without a coefficient, or not counted */
        bool relit;
};

/* @apps: indices of changes->close. 0; -ENOMEM. */
int saved_make(const struct history *history, const struct changes *changes, const size_t *apps,
               const struct mixed *mixed, struct saved *ret);
void saved_clear(struct saved *saved);
