/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "cell.h"
#include "model/profile.h"
#include "rng.h"

/*
 * The battery as the operating system sees it: a level in steps, refreshed at intervals and not quite linear,
 * and a power that is an average with noise, a quantum, a gain and an offset.
 */

/*
 * The charge that a gauge shows as a function of the true one. It is constant over a device's life, and
 * neither straight nor smooth.
 */

/* The shown charge at equal steps of the true one. */
#define GAUGE_CURVE_POINTS 1025

struct gauge_curve {
        double shown[GAUGE_CURVE_POINTS];
        bool linear;
};

/*
 * The shown percents of a gauge that hold unequal charges, other ones in each discharge. docs/physics.md has
 * the law.
 */

#define LEVEL_PERCENTS 100

struct level_error {
        double scatter, drift, drift_keep, lag; /* parts of a percent, of the scale, and percents */
        double at[LEVEL_PERCENTS + 1];          /* the charge at which each percent is shown; ascending */
        struct rng rng;
        bool any;
        bool fresh;                             /* drawn at the full charge that still lasts */
};

/*
 * Current sensors that do not show the mean power since the last update: they smooth, average over a longer
 * time, come late, leave updates out, or compute the current from a predicted time. Written from
 * docs/physics.md, and apart from calibrate/, which has to find out such a sensor from its readings alone.
 */

struct sensor_late {
        uint64_t at_ns;
        double power_w;
};

struct sensor {
        double gain_per_w;       /* change of the gain with the power */
        double alpha;            /* weight of an update in the exponential mean; 1: none */
        double attack;           /* the same for a power far above what is shown */
        double smooth_w;
        double *window_w;        /* the last updates; NULL: no mean of them is shown */
        size_t n_window, at;
        double skip;             /* chance that an update repeats what was shown */
        bool derived;            /* from a predicted time */
        double full_j;           /* full charge, for the derived one */
        struct rng rng;
        uint64_t delay_ns;
        struct sensor_late *late; /* a ring; NULL: shown at once */
        size_t n_late, first, waiting;
};

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
