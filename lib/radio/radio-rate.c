/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-rate.h"

#include <stdlib.h>
#include <string.h>

#include "util/util.h"

struct radio_slot {
        uint64_t packets, large;
        int64_t busy_ms; /* sum over its bursts; more than the slot where bursts overlap */
};

void radio_rate_clear(struct radio_rate *rate)
{
        free(rate->slots);
        *rate = (struct radio_rate){ 0 };
}

uint64_t radio_rate_before(const struct radio_burst *burst, uint64_t n, int64_t time_ms)
{
        int64_t first_ms = radio_first_ms(burst), long_ms = radio_last_ms(burst) - first_ms;

        if (time_ms > first_ms + long_ms)
                return n;
        return time_ms <= first_ms ? 0 : (uint64_t)((double)n * (double)(time_ms - first_ms) / (double)(long_ms + 1));
}

static struct radio_slot *slot_at(const struct radio_rate *rate, int64_t slot)
{
        return &rate->slots[slot - rate->first];
}

static void count_burst(const struct radio_rate *rate, const struct radio_burst *burst)
{
        int64_t first_ms = radio_first_ms(burst), last_ms = radio_last_ms(burst);
        uint64_t packets = 0, large = 0, all = radio_packets_of(burst);

        for (int64_t s = radio_slot_of(first_ms); s <= radio_slot_of(last_ms); s++) {
                int64_t from_ms = s * RADIO_SLOT_MS, to_ms = from_ms + RADIO_SLOT_MS;
                uint64_t to = radio_rate_before(burst, all, to_ms);
                uint64_t large_to = radio_rate_before(burst, burst->large, to_ms);

                slot_at(rate, s)->busy_ms += MIN(last_ms, to_ms) - MAX(first_ms, from_ms);
                slot_at(rate, s)->packets += to - packets;
                slot_at(rate, s)->large += large_to - large;
                packets = to;
                large = large_to;
        }
}

int radio_rate_count(struct radio_rate *rate, const struct radio_burst *bursts, size_t n)
{
        int64_t first = radio_slot_of(radio_first_ms(&bursts[0])) - RADIO_SLOTS_PER_S, end = 0;
        struct radio_slot kept[RADIO_SLOTS_PER_S] = { 0 };
        int err;

        for (size_t i = 0; i < n; i++)
                end = MAX(end, radio_slot_of(radio_last_ms(&bursts[i])) + 1);
        for (int64_t s = 0; s < RADIO_SLOTS_PER_S; s++)
                if (first + s >= rate->first && first + s - rate->first < (int64_t)rate->n)
                        kept[s] = *slot_at(rate, first + s);
        err = util_grow(&rate->slots, &rate->capacity, (size_t)(end - first), sizeof(*rate->slots));
        if (err)
                return err;
        rate->first = first;
        rate->n = (size_t)(end - first);
        memset(rate->slots, 0, rate->n * sizeof(*rate->slots));
        memcpy(rate->slots, kept, sizeof(kept));
        for (size_t i = 0; i < n; i++)
                count_burst(rate, &bursts[i]);
        return 0;
}

size_t radio_rate_class(const struct radio_rate *rate, const struct radio_shape *shape, int64_t slot)
{
        const struct radio_slot *now = slot_at(rate, slot);
        uint64_t packets = 0, large = 0;
        size_t class = 0;

        for (int64_t s = slot - RADIO_SLOTS_PER_S + 1; s <= slot; s++) {
                packets += slot_at(rate, s)->packets;
                large += slot_at(rate, s)->large;
        }
        if (packets >= RADIO_DENSE) {
                uint64_t busy_ms = (uint64_t)MIN(MAX(now->busy_ms, 1), RADIO_SLOT_MS);

                packets = MAX(RADIO_DENSE, now->packets * 1000 / busy_ms);
        }
        while (class + 1 < shape->n_rates && (int64_t)packets >= shape->rate[class + 1])
                class++;
        return class + (shape->sizes && large > 0 ? shape->n_rates : 0);
}
