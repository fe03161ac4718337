/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Current sensors that do not show the mean power since the last update: they smooth, average over a longer
 * time, come late, leave updates out, or compute the current from a predicted time. Written from
 * docs/physics.md, and apart from calibrate/, which has to find out such a sensor from its readings alone.
 */

#include "model/profile.h"
#include "rng.h"

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

/* @run: only its copy is drawn from, so that no other effect changes. */
int sensor_init(struct sensor *sensor, const struct profile_virtual *device, double period_s,
                const struct rng *run);
void sensor_clear(struct sensor *sensor);
/* As if it had shown @power_w for ever. */
void sensor_start(struct sensor *sensor, double power_w, double full_j);
/* An update: what is shown for a mean power of @power_w since the last one, before rounding. */
double sensor_filter(struct sensor *sensor, double power_w, double level);
/* Does this update repeat what was shown? */
bool sensor_skips(struct sensor *sensor);
/* Keeps @power_w until it is to be shown. False: it is shown at once. */
bool sensor_delay(struct sensor *sensor, uint64_t now_ns, double power_w);
/* When the next late update comes; UINT64_MAX: none. */
uint64_t sensor_next_ns(const struct sensor *sensor);
double sensor_take(struct sensor *sensor);
