/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What really happened on a virtual device. Only `joulecast simulate --truth`
 * (and the tests of the physics) may include this: calibration, poller and
 * prediction must get along with what a real device shows.
 */

#include "virtual.h"

struct virtual_truth_app {
        char app[APP_ID_MAX];
        bool foreground;
        double energy_j; /* CPU with its share of S and idle, display, GPU, bytes, bursts */
};

struct virtual_truth {
        double total_j;
        double base_j; /* everything that is nobody's: P0, idle, P_wifi, daemons */
        double percent_start;
        double percent_end;
        const struct virtual_truth_app *apps;
        size_t n_apps;
};

/* Since the device was opened, or since virtual_truth_reset(). Valid until the device advances. */
void virtual_truth_read(struct virtual_device *device, struct virtual_truth *ret);
void virtual_truth_reset(struct virtual_device *device);
/*
 * True power for the work and settings in force, averaged over noise: daemons and spikes at their mean, byte
 * rates nominal, bursts spread out, the temperature steady in a room of 25 C.
 */
double virtual_truth_power_w(const struct virtual_device *device);
