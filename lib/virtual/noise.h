/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What nobody asked for: daemons that no counter shows, spikes, byte rates that
 * wander, the temperature of the room. Drawn anew on each whole second of
 * virtual time, whoever reads the device and when, so that looking changes
 * nothing.
 */

#include "model/profile.h"
#include "rng.h"
#include "wander.h"

/* The byte rates that wander, each by itself. */
enum rate {
        RATE_READ,
        RATE_WRITE,
        RATE_RX,
        RATE_TX,
        RATE_COUNT
};

/*
 * A Poisson process, twice: the copy runs `spike_s` behind and says when the
 * spikes end. So any number of them may overlap without a list.
 */
struct spikes {
        double power_w;
        double length_s;
        double mean_gap_s; /* infinite: none */
        struct rng starts, ends;
        double next_start_s, next_end_s;
        unsigned running;
        double mean_w;     /* over the second in force */
};

struct noise {
        double daemons_mean_w;
        double rate_sd;
        double ambient_sd_c;
        struct wander daemons, ambient, rates[RATE_COUNT];
        struct spikes spikes;
        double second; /* the whole second in force */

        /* in force during this second: */
        double unseen_w;                /* daemons and spikes */
        double rate_factor[RATE_COUNT]; /* of the nominal byte rates; mean 1 */
        double ambient_c;
};

void noise_init(struct noise *noise, const struct profile_virtual *device, struct rng *rng);
void noise_next_second(struct noise *noise);
double noise_mean_w(const struct noise *noise); /* of daemons and spikes */
