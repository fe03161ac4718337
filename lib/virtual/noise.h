/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Random effects: daemons that no counter shows, spikes, byte rates that vary, and room temperature. They are
 * drawn on each whole second of virtual time, independent of readings, so that reading changes nothing.
 */

#include "model/profile.h"
#include "rng.h"
#include "wander.h"

/* Byte rates, each of which varies independently. */
enum rate {
        RATE_READ,
        RATE_WRITE,
        RATE_RX,
        RATE_TX,
        RATE_COUNT
};

/*
 * A Poisson process and a copy of it that is `spike_s` late and gives the ends of the spikes. So any number
 * of spikes may overlap without a list.
 */
struct spikes {
        double power_w;
        double length_s;
        double mean_gap_s; /* infinite: no spikes */
        struct rng starts, ends;
        double next_start_s, next_end_s;
        unsigned running;
        double mean_w;     /* in the present second */
};

struct noise {
        double daemons_mean_w;
        double rate_sd;
        double ambient_sd_c;
        struct wander daemons, ambient, rates[RATE_COUNT];
        struct spikes spikes;
        double second; /* start of the present second */

        /* values of this second: */
        double unseen_w;                /* daemons and spikes */
        double rate_factor[RATE_COUNT]; /* relative to the nominal byte rates; mean 1 */
        double ambient_c;
};

void noise_init(struct noise *noise, const struct profile_virtual *device, struct rng *rng);
void noise_next_second(struct noise *noise);
double noise_mean_w(const struct noise *noise); /* mean power of daemons and spikes */
