/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a radio takes with traffic of each class and in the silence after it, found by running its automaton. All of
 * this is above its base, and linear in the powers of its states.
 */

#include "radio-ladder.h"
#include "radio-run.h"

#define RADIO_SAMPLES 4 /* of silences between two rungs */

struct radio_meter {
        const struct radio_shape *shape;
        enum radio_signal signal;
        struct radio radio; /* whose packets have no price and take no time */
        double base_mw;     /* what it draws if nothing ever wakes it */
};

/* @shape must outlive it. radio_meter_close() it. 0; -ENOMEM. */
int radio_meter_open(struct radio_meter *meter, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape);
void radio_meter_close(struct radio_meter *meter);

/* By the silence after the last packet of a class. */
struct radio_silence {
        double burst_mw;                                /* while packets come as closely as in a burst */
        double up_uj[RADIO_RUNGS_MAX];                  /* from the packet to each rung */
        double end_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES];  /* to a silence between that rung and the next */
        double wake_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES]; /* from the packet on that ends it, if it is the last */
        double tail_uj;                                 /* from the packet on, if it is the last */
};

int radio_meter_silence(const struct radio_meter *meter, size_t class, struct radio_silence *ret); /* 0; -ENOMEM */
/* How long that silence is. */
double radio_meter_sample_ms(const struct radio_shape *shape, size_t rung, int sample);
/* The class of the packet that ends a silence after a class. */
size_t radio_meter_class_after(const struct radio_shape *shape, size_t class, double silence_ms);

/*
 * What a packet and a byte of a class take of @radio, which has its prices, beside the time that it is up. 0; -ENOMEM.
 */
int radio_meter_packets(const struct radio_meter *meter, const struct radio *radio, size_t class,
                        enum radio_direction direction, double *packet_uj, double *byte_uj);

/*
 * Traffic, then silence for @silence_ms, a span of packets for @span_ms, and sleep. @ret_uj: what all of it takes.
 * @bursts and @until_ns: the same for radio_ladder_poll(), to see what its cells are short of. 0; -ENOMEM.
 */
int radio_meter_span(const struct radio_meter *meter, double silence_ms, double span_ms, struct radio_burst bursts[2],
                     int64_t *until_ns, double *ret_uj);
