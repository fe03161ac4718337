/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio-uses.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* Typical uses: bursts in a second, packets of a burst, and the time between its packets. */
static const struct use {
        double bursts_per_s, packets, apart_ms, bytes;
        bool irregular;
} uses[RADIO_USES] = {
        { 100, 1, 0, 200, false },
        { 1, 1, 0, 120, true },
        { 25, 1, 0, 150, true },
        { 0.125, 400, 1, 1400, false },
        { 0.0125, 8, 20, 500, false },
        { 1, 500, 2, 1400, false },
};

static double uniform(uint64_t *state)
{
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return ((double)(*state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static void put_packet(const struct use *use, double ms, size_t number, struct radio_burst *bursts, size_t *n)
{
        int64_t time_ns = llround(ms * 1e6);
        struct radio_burst *burst = *n > 0 ? &bursts[*n - 1] : NULL;

        if (!burst || time_ns - burst->last_ns >= RADIO_BURST_GAP_NS) {
                burst = &bursts[(*n)++];
                *burst = (struct radio_burst){ .owner = 1, .first_ns = time_ns };
        }
        burst->last_ns = time_ns;
        burst->packets[number % RADIO_DIRECTIONS]++;
        burst->bytes[number % RADIO_DIRECTIONS] += (uint64_t)use->bytes;
        burst->large += use->bytes >= RADIO_LARGE_BYTES;
}

int radio_use(const struct radio_shape *shape, size_t number, struct radio_amounts *ret)
{
        const struct use *use = &uses[number];
        size_t most = (size_t)(4 * RADIO_USE_S * use->bursts_per_s) + 16, n = 0, packet = 0;
        _cleanup_free_ struct radio_burst *bursts = calloc(most, sizeof(*bursts));
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        uint64_t state = number;
        int err = bursts ? radio_ladder_start(&ladder, shape) : -ENOMEM;

        *ret = (struct radio_amounts){ .cells = calloc(radio_shape_cells(shape), sizeof(*ret->cells)) };
        if (!ret->cells)
                return -ENOMEM;
        for (double ms = 500; !err && ms < RADIO_USE_S * 1e3 && n + 1 < most;) {
                for (double i = 0; i < use->packets; i++)
                        put_packet(use, ms + i * use->apart_ms, packet++, bursts, &n);
                ms += 1e3 / use->bursts_per_s * (use->irregular ? -log(uniform(&state)) : 1);
        }
        if (!err)
                err = radio_ladder_poll(&ladder, bursts, n, llround(RADIO_USE_S * NS_PER_S));
        for (size_t o = 0; !err && o < ladder.n_owners; o++) {
                for (size_t i = 0; i < radio_shape_cells(shape); i++)
                        ret->cells[i] += ladder.owners[o].cells[i];
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        ret->bytes[d] += ladder.owners[o].bytes[d];
        }
        return err;
}
