/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What really happened on a virtual device. Only `joulecast simulate --truth`
 * (and the tests of the physics) may include this: calibration, poller and
 * prediction must get along with what a real device shows.
 */

#include "virtual.h"

/* The parts of an app's energy. */
enum virtual_part {
        VIRTUAL_CPU, /* with its share of S and idle */
        VIRTUAL_DISPLAY,
        VIRTUAL_DISK,
        VIRTUAL_WIFI, /* bytes, bursts; of an automaton its spans */
        VIRTUAL_CELLULAR,
        VIRTUAL_GPU,
        VIRTUAL_GPS,
        VIRTUAL_AUDIO,
        VIRTUAL_CAMERA,
        VIRTUAL_UNSEEN, /* shown by no counter */
        VIRTUAL_PART_COUNT
};

extern const char *const virtual_part_names[VIRTUAL_PART_COUNT];

struct virtual_truth_app {
        char app[APP_ID_MAX];
        bool foreground;
        double energy_j; /* of all parts */
        double part_j[VIRTUAL_PART_COUNT];
};

struct virtual_truth {
        double total_j;
        double base_j; /* what no app causes: P0, idle, P_wifi, radios outside of spans, daemons */
        double percent_start;
        double percent_end;
        const struct virtual_truth_app *apps;
        size_t n_apps;
};

/* Since the device was opened, or since virtual_truth_reset(). Valid until the device advances. -ENOMEM. */
int virtual_truth_read(struct virtual_device *device, struct virtual_truth *ret);
void virtual_truth_reset(struct virtual_device *device);
/*
 * True power for the work and settings in force, averaged over noise: daemons and spikes at their mean, byte
 * rates and the price of a byte nominal, bursts spread out, a radio left to itself, the temperature steady in a
 * room of 25 C.
 */
double virtual_truth_power_w(const struct virtual_device *device);

/* Each packet from now on, over whichever radio, at the time awake. NULL: no longer. */
typedef void virtual_truth_packet(void *data, enum air air, uint64_t time_ns, enum radio_direction direction,
                                  uint64_t bytes, const char *app);
void virtual_truth_watch(struct virtual_device *device, virtual_truth_packet *watcher, void *data);
