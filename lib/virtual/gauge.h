/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The battery as the operating system sees it: a level in steps, refreshed at intervals and not quite linear,
 * and a power that is an average with noise, a quantum, a gain and an offset.
 */

#include "cell.h"
#include "gauge-curve.h"
#include "level-error.h"
#include "model/profile.h"
#include "rng.h"
#include "sensor.h"

struct gauge {
        double step;               /* step of the level, 0..1; 0: none */
        struct gauge_curve curve;
        struct level_error error;
        uint64_t level_period_ns;  /* 0: refreshed at each reading */
        uint64_t next_level_ns;
        double level;              /* at the last refresh, rounded down to its step */

        uint64_t power_period_ns;  /* 0: no current sensor */
        uint64_t next_power_ns;
        double gain;               /* hidden */
        double offset_w;           /* hidden */
        double noise;
        double quantum_w;
        struct rng rng;            /* source of the noise */
        struct sensor sensor;
        double energy_j;           /* since the last update */
        uint64_t since_ns;
        double power_w;            /* at the last update */
};

/* @hidden: constants of the device, from its seed alone. @run: phases and noise of this run. */
int gauge_init(struct gauge *gauge, const struct profile_virtual *device, struct rng *hidden,
               struct rng *run);
void gauge_clear(struct gauge *gauge);
/* Sets the values at power-on: the level, and @power_w. */
void gauge_start(struct gauge *gauge, const struct cell *cell, double power_w);
/* The next time at which something that is shown may change. */
uint64_t gauge_next_ns(const struct gauge *gauge);
/* Called at least at each refresh; both apply the refreshes that are due at @now_ns. */
void gauge_refresh_level(struct gauge *gauge, const struct cell *cell, uint64_t now_ns);
void gauge_refresh_power(struct gauge *gauge, uint64_t now_ns);
