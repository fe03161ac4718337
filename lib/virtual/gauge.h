/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the operating system is shown of the battery: a level in steps,
 * refreshed now and then and not quite linear, and a power that is an average
 * with noise, a quantum, a gain and an offset.
 */

#include "cell.h"
#include "gauge-curve.h"
#include "model/profile.h"
#include "rng.h"

struct gauge {
        double step;               /* of the level, 0..1; 0: none */
        struct gauge_curve curve;
        uint64_t level_period_ns;  /* 0: fresh at each look */
        uint64_t next_level_ns;
        double level;              /* as last refreshed, floored to its step */

        uint64_t power_period_ns;  /* 0: no current sensor */
        uint64_t next_power_ns;
        double gain;               /* hidden */
        double offset_w;           /* hidden */
        double noise;
        double quantum_w;
        struct rng rng;            /* of the noise */
        double energy_j;           /* since the last update */
        uint64_t since_ns;
        double power_w;            /* as last updated */
};

/* @hidden: the device's constants, from its seed alone. @run: phases and noise of this run. */
void gauge_init(struct gauge *gauge, const struct profile_virtual *device, struct rng *hidden,
                struct rng *run);
/* What the gauge shows when the device is switched on: the level, and @power_w. */
void gauge_start(struct gauge *gauge, const struct cell *cell, double power_w);
/* Called at each refresh at the latest: both do what is due at @now_ns and no more. */
void gauge_refresh_level(struct gauge *gauge, const struct cell *cell, uint64_t now_ns);
void gauge_refresh_power(struct gauge *gauge, uint64_t now_ns);
