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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio.h"

/*
 * The silences, rates and ages at which a radio's traffic is counted, and the index of each in the row of
 * cells (METHOD.md).
 */

#define RADIO_RUNGS_MAX 48
#define RADIO_RATES_MAX 41
/* packets in the last second; from this rate on the class is the spacing of packets */
#define RADIO_DENSE UINT64_C(64)
#define RADIO_CLASSES_MAX (2 * RADIO_RATES_MAX)
#define RADIO_AGES_MAX 8
#define RADIO_EARLY_MS 200 /* no radio needs a promotion after a shorter silence */

struct radio_shape {
        size_t n_rungs, n_rates, n_ages;
        int64_t rung_ms[RADIO_RUNGS_MAX]; /* ascending; the first is 0, the time within bursts */
        int64_t rate[RADIO_RATES_MAX];    /* minimum packets in the last second, ascending */
        int64_t age_ms[RADIO_AGES_MAX];   /* ends of a span's early parts, ascending */
        int64_t share_ms; /* at lower rungs, a silence shorter than this does not end the sharing among owners */
        bool sizes; /* whether traffic with a large packet in the last second is a class of its own */
};

/*
 * Makes rungs from @first_ms to more than a minute and rates from 1 to 1024, with the given number per
 * doubling; early parts reach up to 4 s. The other arguments are the members above.
 */
void radio_shape_make(struct radio_shape *shape, double first_ms, double rungs_per_octave, double rates_per_octave,
                      bool sizes, int64_t share_ms);
/* The stored shape: the smallest that build/tests/radio/test-radio-ladder found accurate enough (METHOD.md). */
void radio_shape_stored(struct radio_shape *shape);

/*
 * Classes are ordered by the rate of all owners' packets; then the same with a large packet, if sizes matter.
 */
static inline size_t radio_shape_classes(const struct radio_shape *shape)
{
        return shape->n_rates * (shape->sizes ? 2 : 1);
}

static inline size_t radio_shape_cells(const struct radio_shape *shape)
{
        return radio_shape_classes(shape) * (RADIO_DIRECTIONS + 2 * shape->n_rungs) + shape->n_rungs * shape->n_ages;
}

/* Index of the first nonzero cell from @i on, or @n. Few cells are nonzero. */
static inline size_t radio_next_cell(const int64_t *cells, size_t i, size_t n)
{
        for (; i + 4 <= n && !(cells[i] | cells[i + 1] | cells[i + 2] | cells[i + 3]); i += 4)
                ;
        while (i < n && !cells[i])
                i++;
        return i;
}

/* First rung whose spans have their early parts counted. */
static inline size_t radio_shape_early(const struct radio_shape *shape)
{
        size_t k = 0;

        while (k < shape->n_rungs && shape->rung_ms[k] < RADIO_EARLY_MS)
                k++;
        return k;
}

static inline size_t radio_cell_packets(size_t class, size_t direction)
{
        return class * RADIO_DIRECTIONS + direction;
}

/* Time up in ms with the timer of a rung, by the class of the packet before. */
static inline size_t radio_cell_up(const struct radio_shape *shape, size_t class, size_t rung)
{
        return radio_shape_classes(shape) * RADIO_DIRECTIONS + class * shape->n_rungs + rung;
}

/* Number of spans that an owner opened, by the class of the packet before the silence. */
static inline size_t radio_cell_opened(const struct radio_shape *shape, size_t class, size_t rung)
{
        return radio_cell_up(shape, class, rung) + radio_shape_classes(shape) * shape->n_rungs;
}

/* Time in ms of spans in each early part (from the age before, or 0), up to their last packets. */
static inline size_t radio_cell_early(const struct radio_shape *shape, size_t rung, size_t age)
{
        return radio_cell_opened(shape, radio_shape_classes(shape), 0) + rung * shape->n_ages + age;
}

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
