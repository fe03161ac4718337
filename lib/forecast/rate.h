/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Expected power, from recorded power: a mean, the variance of a future span
 * around it, and the error of the mean.
 */

#include "history.h"

/*
 * The power over a future span of T seconds has the variance session^2 + noise_j2_per_s / T around the mean;
 * the mean is known to mean_sd_w, with so many degrees of freedom.
 */
struct rate {
        struct model_vector vector; /* weights for the model, for one second */
        double power_w;
        double session_sd_w;        /* between sessions */
        double noise_j2_per_s;      /* within a session, white beyond a block */
        double mean_sd_w;
        double degrees_of_freedom;
        double seconds;             /* length of the history behind it */
        size_t n_sessions;
};

/* An app's own power in a state. -ENODATA: it was never seen in that state. */
int rate_of_app(const struct history *history, size_t app, enum app_state state, struct rate *ret);

/*
 * Power of other apps in the background while each of @apps has the screen, while another app has it, and while
 * none has it. Blocks hold a mixture, so the kinds are separated by least squares, with a prior of their common
 * mean. @ret has n_apps + 2 entries, in that order.
 */
int rate_of_background(const struct history *history, const size_t *apps, size_t n_apps, struct rate *ret);

/* Base while awake: time and WiFi association, which do not vary. */
int rate_of_base(const struct history *history, struct rate *awake);
void rate_clear(struct rate *rate);

/* Standard deviation of the energy over @seconds, without the model's own error; J. */
double rate_sd_j(const struct rate *rate, double seconds);
