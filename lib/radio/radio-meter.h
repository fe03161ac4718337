/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Energy of a radio with traffic of each class, and in the silence after it, found by running its automaton.
 * All values are above the base power and linear in the powers of the states.
 */

#include "radio-ladder.h"
#include "radio-run.h"

#define RADIO_SAMPLES 4 /* silences that are measured between two rungs */

struct radio_meter {
        const struct radio_shape *shape;
        enum radio_signal signal;
        struct radio radio; /* copy whose packets have no price and no air time */
        double base_mw;     /* mean power if nothing ever wakes the radio */
};

/* @shape must outlive the meter; end with radio_meter_close(). Returns 0 or -ENOMEM. */
int radio_meter_open(struct radio_meter *meter, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape);
void radio_meter_close(struct radio_meter *meter);

/* Energy after the last packet of a class. */
struct radio_silence {
        double burst_mw;                                /* mean power between packets of a burst */
        double up_uj[RADIO_RUNGS_MAX];                  /* from the last packet to each rung */
        /* from the last packet to each measured silence between this rung and the next */
        double end_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES];
        /* from a packet that ends such a silence until sleep, if no other follows */
        double wake_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES];
        double tail_uj; /* from the last packet until sleep, if no other follows */
};

int radio_meter_silence(const struct radio_meter *meter, size_t class, struct radio_silence *ret); /* 0; -ENOMEM */
/* Length of a measured silence. */
double radio_meter_sample_ms(const struct radio_shape *shape, size_t rung, int sample);
/* Class of the packet that ends a silence after traffic of @class. */
size_t radio_meter_class_after(const struct radio_shape *shape, size_t class, double silence_ms);

/*
 * Energy per packet and per byte of a class, beside the power of the states. @radio has its prices. Returns 0
 * or -ENOMEM.
 */
int radio_meter_packets(const struct radio_meter *meter, const struct radio *radio, size_t class,
                        enum radio_direction direction, double *packet_uj, double *byte_uj);

/*
 * Energy of warm-up traffic, @silence_ms of silence, a span of packets for @span_ms, and sleep, in @ret_uj.
 * @bursts and @until_ns describe the same traffic to radio_ladder_poll(), to compare the price of its cells.
 * Returns 0 or -ENOMEM.
 */
int radio_meter_span(const struct radio_meter *meter, double silence_ms, double span_ms, struct radio_burst bursts[2],
                     int64_t *until_ns, double *ret_uj);
