/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Number of packets of all owners in the last second, for each moment of a cluster. A cluster is a series of
 * bursts that are less than a second apart.
 */

#include "radio-ladder.h"
#include "util/units.h"

#define RADIO_SLOT_MS 125
#define RADIO_SLOTS_PER_S 8

struct radio_rate {
        struct radio_slot *slots; /* the cluster, and the second before it */
        size_t capacity, n;
        int64_t first;            /* first slot, by radio_slot_of() */
};

void radio_rate_clear(struct radio_rate *rate);
/* Replaces the cluster by the next one. @bursts is sorted by the first packets. Returns 0 or -ENOMEM. */
int radio_rate_count(struct radio_rate *rate, const struct radio_burst *bursts, size_t n);
/* Class of the packets in a slot of the cluster. */
size_t radio_rate_class(const struct radio_rate *rate, const struct radio_shape *shape, int64_t slot);
/* Number of a burst's @n packets that come before @time_ms, if they are evenly spaced. */
uint64_t radio_rate_before(const struct radio_burst *burst, uint64_t n, int64_t time_ms);

static inline int64_t radio_slot_of(int64_t ms)
{
        return ms / RADIO_SLOT_MS;
}

/* Both ends are rounded down, so that lengths are right on average. */
static inline int64_t radio_first_ms(const struct radio_burst *burst)
{
        return burst->first_ns / (int64_t)NS_PER_MS;
}

static inline int64_t radio_last_ms(const struct radio_burst *burst)
{
        return burst->last_ns / (int64_t)NS_PER_MS;
}

static inline uint64_t radio_packets_of(const struct radio_burst *burst)
{
        return burst->packets[RADIO_TX] + burst->packets[RADIO_RX];
}
