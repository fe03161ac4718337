/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the amounts of radio-ladder.h cost with one automaton: a sum with coefficients, which are found by running it
 * (radio-run.h) with traffic of each class, then silence, then a packet. Above the base: a radio that nothing ever
 * wakes again draws base_mw, and the base pays for that.
 */

#include "radio-ladder.h"
#include "radio-run.h"

struct radio_price {
        const struct radio_shape *shape;
        double base_mw;
        double *cell_uj; /* for one of each cell: a packet, a ms, a span */
        double byte_uj[RADIO_CLASSES_MAX][RADIO_DIRECTIONS];
};

/*
 * Of a radio as it is, a carrier's timers put in (radio_with_carrier()). @shape must outlive it. 0; -ENOMEM.
 * radio_price_clear() it.
 */
int radio_price_make(struct radio_price *price, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape);
void radio_price_clear(struct radio_price *price);
/* J above the base; of an owner, or of any sum of amounts. */
double radio_price_j(const struct radio_price *price, const struct radio_amounts *amounts);
