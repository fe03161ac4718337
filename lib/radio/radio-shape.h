/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* At which silences, rates and ages a radio's traffic is kept, and where in a row of cells (docs/radios.md). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio.h"

#define RADIO_RUNGS_MAX 48
#define RADIO_RATES_MAX 41
#define RADIO_DENSE UINT64_C(64) /* packets in the last second: from so many on the class is by how closely they come */
#define RADIO_CLASSES_MAX (2 * RADIO_RATES_MAX)
#define RADIO_AGES_MAX 8
#define RADIO_EARLY_MS 200 /* after shorter silences no radio needs a promotion */

struct radio_shape {
        size_t n_rungs, n_rates, n_ages;
        int64_t rung_ms[RADIO_RUNGS_MAX]; /* ascending; the first is 0: the time within bursts */
        int64_t rate[RADIO_RATES_MAX];    /* least packets in the last second, ascending */
        int64_t age_ms[RADIO_AGES_MAX];   /* of a span, ascending: the ends of its early parts */
        int64_t share_ms;                 /* at rungs below, a shorter silence does not end what owners share */
        bool sizes;                       /* is a class with a large packet in the last second another one? */
};

/*
 * Rungs from @first_ms to more than a minute, so many for each doubling, and rates from 1 to 1024 likewise; early parts
 * up to 4 s. The rest as above.
 */
void radio_shape_make(struct radio_shape *shape, double first_ms, double rungs_per_octave, double rates_per_octave,
                      bool sizes, int64_t share_ms);
/* What is stored: the smallest that tests/test-radio-ladder found good enough (docs/radios.md). */
void radio_shape_stored(struct radio_shape *shape);

/* Classes: by the packets of all owners in the last second, then the same with a large one. */
static inline size_t radio_shape_classes(const struct radio_shape *shape)
{
        return shape->n_rates * (shape->sizes ? 2 : 1);
}

static inline size_t radio_shape_cells(const struct radio_shape *shape)
{
        return radio_shape_classes(shape) * (RADIO_DIRECTIONS + 2 * shape->n_rungs) + shape->n_rungs * shape->n_ages;
}

/* The first cell from @i on that is not 0, or @n: few of them are. */
static inline size_t radio_next_cell(const int64_t *cells, size_t i, size_t n)
{
        for (; i + 4 <= n && !(cells[i] | cells[i + 1] | cells[i + 2] | cells[i + 3]); i += 4)
                ;
        while (i < n && !cells[i])
                i++;
        return i;
}

/* The first rung whose spans' early parts are counted. */
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

/* ms up with the timer of a rung, by the class of the packet before. */
static inline size_t radio_cell_up(const struct radio_shape *shape, size_t class, size_t rung)
{
        return radio_shape_classes(shape) * RADIO_DIRECTIONS + class * shape->n_rungs + rung;
}

/* Spans that an owner opened, by the class of the packet before the silence. */
static inline size_t radio_cell_opened(const struct radio_shape *shape, size_t class, size_t rung)
{
        return radio_cell_up(shape, class, rung) + radio_shape_classes(shape) * shape->n_rungs;
}

/* ms of spans up to each age, from the one before or 0, but not after their last packet. */
static inline size_t radio_cell_early(const struct radio_shape *shape, size_t rung, size_t age)
{
        return radio_cell_opened(shape, radio_shape_classes(shape), 0) + rung * shape->n_ages + age;
}
