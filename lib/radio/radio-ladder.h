/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is kept of a radio's traffic, so that any automaton can be priced later: for a ladder of silences, how long a
 * radio that sleeps after each would have been up, and how often it would have woken (docs/radios.md). All are
 * integers, times in ms, and sums: those of polls, hours and days add up. At each rung the owners add up to the traffic
 * as a whole, to the last ms.
 */

#include "radio-shape.h"

/* An owner's burst ends when the owner sends and receives nothing for so long. */
#define RADIO_BURST_GAP_NS INT64_C(50000000)
#define RADIO_LARGE_BYTES 256 /* least of a large packet */

struct radio_burst {
        uint64_t owner;              /* whatever the caller tells owners apart by */
        int64_t first_ns, last_ns;   /* times of its first and last packet, of any one clock; the others are taken as
                                        evenly spaced */
        uint64_t packets[RADIO_DIRECTIONS], bytes[RADIO_DIRECTIONS];
        uint64_t large;              /* of its packets */
};

struct radio_amounts {
        uint64_t owner;
        uint64_t bytes[RADIO_DIRECTIONS];
        int64_t *cells;              /* radio_shape_cells() of them, as radio_cell_...() order them */
};

struct radio_ladder {
        const struct radio_shape *shape;
        bool began;
        int64_t now_ms, last_ms;     /* counted until; the last packet's time */
        size_t last_class;
        struct {
                uint64_t opener;     /* of its open span, and how old that was at the last packet */
                int64_t age_ms;
        } rungs[RADIO_RUNGS_MAX];
        struct radio_amounts *owners; /* of the last poll, by owner */
        size_t n_owners, owners_capacity;
        int64_t *cells;
        size_t cells_capacity;
        struct radio_ladder_work *work;
};

/* @shape must outlive it. radio_ladder_clear() it. 0; -ENOMEM. */
int radio_ladder_start(struct radio_ladder *ladder, const struct radio_shape *shape);
void radio_ladder_clear(struct radio_ladder *ladder);

/**
 * radio_ladder_poll() - what the bursts of a poll amount to
 * @ladder:   goes on from the poll before; afterwards its owners are those of this poll, until the next one
 * @bursts:   of all owners of one kind of radio, also those that are still open; sorted here by time
 * @n:        how many
 * @until_ns: the poll's time, by the bursts' clock; a packet after it counts as one at that time
 *
 * The time within a span is shared among its owners by their packets of this poll, and so is silence that may yet end
 * it; silence that does end it at a rung is its opener's, who need not have sent anything in this poll.
 *
 * Return: 0; -ENOMEM, and there are no owners.
 */
int radio_ladder_poll(struct radio_ladder *ladder, struct radio_burst *bursts, size_t n, int64_t until_ns);
