/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prices the amounts of radio-ladder.h with one automaton.
 *
 * The price is a sum with one coefficient per cell. The coefficients are found once by running the automaton
 * (radio-run.h) with traffic of each class, then silence, then one packet. All energy is above the base: a
 * radio that nothing ever wakes draws base_mw, which is charged to the base.
 */

#include "radio-ladder.h"
#include "radio-run.h"

struct radio_price {
        const struct radio_shape *shape;
        double base_mw;
        double *cell_uj; /* price of one unit of each cell (a packet, a ms or a span) */
        double byte_uj[RADIO_CLASSES_MAX][RADIO_DIRECTIONS];
};

/*
 * @radio has a carrier's timers already (radio_with_carrier()). @shape must outlive the price; end with
 * radio_price_clear(). Returns 0 or -ENOMEM.
 */
int radio_price_make(struct radio_price *price, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape);
void radio_price_clear(struct radio_price *price);
/* Energy above the base, in J, of one owner or of any sum of amounts. */
double radio_price_j(const struct radio_price *price, const struct radio_amounts *amounts);
