/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The true power of the phone: a virtual device of lib/virtual, driven by what the phone does. Its time runs
 * `factor` times as fast as the phone's, and it counts everything `factor` times. So the phone sees a device
 * whose coefficients (watts of a load, joules of a byte and of a burst) are `factor` times those of the file, and
 * whose periods (of the gauge, of the level, of daemons) are shorter by the same factor. Joules and percents are
 * the same on both sides.
 */

#include <cjson/cJSON.h>

#include "source/sample.h"
#include "vcpu.h"
#include "virtual/virtual.h"

/* The phone's load since the last step. */
struct world_load {
        double busy[VCPU_MAX];     /* 0..1 */
        uint32_t khz[VCPU_MAX];    /* 0: not known yet, treated as the highest */
        double level_percent;      /* brightness of the backlight */
        bool screen_on;
        bool wifi_on;
        bool asleep;               /* suspended: the fields above are ignored */
        uint64_t read_bytes, write_bytes, rx_bytes, tx_bytes, wakes;
};

struct world {
        struct profile *truth;
        struct virtual_device *device;
        struct source *source;
        struct sample sample;      /* the device's sample after the last step */
        double factor;
        bool has_wifi;
        double charger_w;          /* power of the device's charger; 0: unplugged */
        double phone_s;            /* since world_mark() */
        double busy_s[VCPU_MAX];   /* since world_mark() */
        struct opp *marked;        /* the sample's operating points at world_mark() */
        struct world_load total;   /* bytes and bursts since world_mark() */
};

/* @factor 0: the file's x-factor in [virtual], else 1. 0; -errno, with a message to the log. */
int world_open(struct world *world, const char *file, double factor, uint64_t seed, double percent,
               const struct log *log);
void world_close(struct world *world);

int world_step(struct world *world, double dt_s, const struct world_load *load); /* phone's seconds */
int world_plug(struct world *world, double charger_w);
int world_mark(struct world *world); /* 0; -ENOMEM */

/* The highest frequency of the CPU's policy, and of all. */
uint32_t world_max_khz(const struct world *world, size_t cpu);
/* True charge. */
double world_percent(struct world *world);

/* The energy drained since world_mark(), as JSON, and the coefficients of a perfect calibration. NULL: no memory. */
cJSON *world_truth(struct world *world);
cJSON *world_coefficients(const struct world *world);
