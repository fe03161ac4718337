/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * When packets come: rows of packets by the work that runs. A row does not depend on who looks at the device when, nor
 * on other rows.
 */

#include <stdbool.h>
#include <stdint.h>

#include "radio/radio.h"
#include "rng.h"
#include "virtual.h"

enum traffic_kind {
        TRAFFIC_PACKETS, /* as the work says, sent and received in turn */
        TRAFFIC_RX,      /* of a byte rate, which wanders */
        TRAFFIC_TX,
        TRAFFIC_BURSTS,  /* a small packet each, sent */
};

struct traffic {
        /* which row it is; the same again after a change of work goes on */
        size_t app;
        uint32_t number;
        enum traffic_kind kind;
        enum air air;
        enum virtual_pattern pattern;
        double packets_per_s;
        uint64_t bytes;          /* of a packet */
        uint32_t burst_packets;

        /* who sends it now */
        size_t running;

        /* where it is */
        struct rng rng;
        uint64_t start_ns, next_ns;
        uint64_t n_packets;
        double factor;           /* of a wandering rate ... */
        double part;             /* ... and what was there of its next packet at since_ns */
        uint64_t since_ns;
};

bool traffic_is_same(const struct traffic *a, const struct traffic *b);
/* @factor: of its rate, in force from now on. */
void traffic_start(struct traffic *traffic, uint64_t now_ns, uint64_t seed, const char *app, double factor);
void traffic_set_factor(struct traffic *traffic, uint64_t now_ns, double factor);
/* Takes the packet of next_ns; gives its direction. */
enum radio_direction traffic_take(struct traffic *traffic);
