/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The true energies of a virtual device. Only `joulecast simulate --truth` (and tests of the physics) may
 * include this header: calibration, poller and prediction may only use data that a real device shows.
 */

#include "virtual.h"

/* The parts of an app's energy. */
enum virtual_part {
        VIRTUAL_CPU, /* with its share of S and idle */
        VIRTUAL_DISPLAY,
        VIRTUAL_DISK,
        VIRTUAL_WIFI, /* bytes and bursts; for an automaton its spans */
        VIRTUAL_CELLULAR,
        VIRTUAL_GPU,
        VIRTUAL_GPS,
        VIRTUAL_AUDIO,
        VIRTUAL_CAMERA,
        VIRTUAL_UNSEEN, /* not shown by any counter */
        VIRTUAL_PART_COUNT
};

extern const char *const virtual_part_names[VIRTUAL_PART_COUNT];

struct virtual_truth_app {
        char app[APP_ID_MAX];
        bool foreground;
        double energy_j; /* sum of all parts */
        double part_j[VIRTUAL_PART_COUNT];
};

struct virtual_truth {
        double total_j;
        double base_j; /* not caused by apps: P0, idle, P_wifi, radios outside of spans, daemons */
        double percent_start;
        double percent_end;
        const struct virtual_truth_app *apps;
        size_t n_apps;
};

/*
 * Energies since the device was opened, or since virtual_truth_reset(). Valid until the device advances.
 * Returns 0 or -ENOMEM.
 */
int virtual_truth_read(struct virtual_device *device, struct virtual_truth *ret);
void virtual_truth_reset(struct virtual_device *device);
/*
 * True power for the present work and settings without noise: daemons and spikes at their mean, byte rates
 * and the price of a byte nominal, bursts spread out, an unused radio, and the steady temperature in a room
 * of 25 C.
 */
double virtual_truth_power_w(const struct virtual_device *device);

/* Calls @watcher for each packet over any radio, with the time awake; NULL: stops that. */
typedef void virtual_truth_packet(void *data, enum air air, uint64_t time_ns, enum radio_direction direction,
                                  uint64_t bytes, const char *app);
void virtual_truth_watch(struct virtual_device *device, virtual_truth_packet *watcher, void *data);
