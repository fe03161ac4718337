/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Times of packets: one row of packets per piece of work. A row depends neither on readings of the device nor
 * on other rows.
 */

#include <stdbool.h>
#include <stdint.h>

#include "radio/radio.h"
#include "rng.h"
#include "virtual.h"

enum traffic_kind {
        TRAFFIC_PACKETS, /* as given by the work, sent and received in turn */
        TRAFFIC_RX,      /* packets of a byte rate, which varies */
        TRAFFIC_TX,
        TRAFFIC_BURSTS,  /* one small sent packet each */
};

struct traffic {
        /* identity of the row; a row with the same identity continues after a change of work */
        size_t app;
        uint32_t number;
        enum traffic_kind kind;
        enum air air;
        enum virtual_pattern pattern;
        double packets_per_s;
        uint64_t bytes;          /* size of a packet */
        uint32_t burst_packets;

        /* present sender */
        size_t running;

        /* state of the row */
        struct rng rng;
        uint64_t start_ns, next_ns;
        uint64_t n_packets;
        double factor;           /* factor of a varying rate */
        double part;             /* fraction of its next packet at since_ns */
        uint64_t since_ns;
};

bool traffic_is_same(const struct traffic *a, const struct traffic *b);
/* @factor: present factor of the rate. */
void traffic_start(struct traffic *traffic, uint64_t now_ns, uint64_t seed, const char *app, double factor);
void traffic_set_factor(struct traffic *traffic, uint64_t now_ns, double factor);
/* Takes the packet at next_ns and returns its direction. */
enum radio_direction traffic_take(struct traffic *traffic);
