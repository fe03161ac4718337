/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The stored summary of a radio's traffic, from which any automaton can be priced later (METHOD.md).
 *
 * Method: assume a radio that falls asleep after a silence of length T, and compute how long it would have
 * been up and how often it would have woken. Do so for a ladder of about twenty T ("rungs"). A span is the
 * time between two sleeps at one rung; the owner whose packet wakes the radio is its opener.
 *
 * All cells are integer sums, times in ms, so polls, hours and days add up. At each rung the owners' cells
 * add up to those of the whole traffic, exact to the ms.
 */

#include "radio-shape.h"

/* A burst of an owner ends when the owner sends and receives nothing for this long. */
#define RADIO_BURST_GAP_NS INT64_C(50000000)
#define RADIO_LARGE_BYTES 256 /* a packet of at least this size is large */

struct radio_burst {
        uint64_t owner;              /* any number by which the caller distinguishes owners */
        /* first and last packet, by one clock for all bursts; packets between are assumed evenly spaced */
        int64_t first_ns, last_ns;
        uint64_t packets[RADIO_DIRECTIONS], bytes[RADIO_DIRECTIONS];
        uint64_t large;              /* number of large packets */
};

struct radio_amounts {
        uint64_t owner;
        uint64_t bytes[RADIO_DIRECTIONS];
        int64_t *cells;              /* radio_shape_cells() cells in the order of radio_cell_...() */
};

struct radio_ladder {
        const struct radio_shape *shape;
        bool began;
        int64_t now_ms, last_ms;     /* counted up to now_ms; time of the last packet */
        size_t last_class;
        struct {
                uint64_t opener;     /* who opened the open span; age_ms: the span's age at the last packet */
                int64_t age_ms;
        } rungs[RADIO_RUNGS_MAX];
        struct radio_amounts *owners; /* amounts of the last poll, sorted by owner */
        size_t n_owners, owners_capacity;
        int64_t *cells;
        size_t cells_capacity;
        struct radio_ladder_work *work;
};

/* @shape must outlive the ladder; end with radio_ladder_clear(). Returns 0 or -ENOMEM. */
int radio_ladder_start(struct radio_ladder *ladder, const struct radio_shape *shape);
void radio_ladder_clear(struct radio_ladder *ladder);

/**
 * radio_ladder_poll() - add the bursts of one poll
 * @ladder:   continues from the previous poll; afterwards its owners are those of this poll, until the next one
 * @bursts:   bursts of all owners of one kind of radio, also bursts that are still open; sorted by time here
 * @n:        number of bursts
 * @until_ns: time of the poll, by the bursts' clock; a later packet counts as one at this time
 *
 * The owners of a span share its time by their packets of this poll, and also a silence that may not end the
 * span. A silence that does end the span at a rung is charged to its opener, even if the opener sent nothing
 * in this poll.
 *
 * Return: 0; -ENOMEM, and there are no owners.
 */
int radio_ladder_poll(struct radio_ladder *ladder, struct radio_burst *bursts, size_t n, int64_t until_ns);
