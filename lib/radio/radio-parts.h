/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What amounts cost is linear in the powers of the radio's states, in those of its pulses and in the prices of its
 * packets and bytes. Here is how much each counts, so that an error of a power becomes one of a cost, and powers can be
 * fitted. Rules and timers are as they are: where they change, so does all of this.
 */

#include "radio-price.h"

struct radio_parts {
        size_t n_states;
        struct radio_price *states; /* of a radio that draws 1 mW in one state only; its base_mw: the base's share of it */
        struct radio_price pulses;
        struct radio_price packets;
};

struct radio_part_sums {
        double state_s[RADIO_STATES_MAX]; /* less than 0 where the radio would have been without traffic */
        double pulses_j, packets_j;       /* packets: and bytes */
};

/* Takes a radio_price_make() for each state and two more. radio_parts_clear() it. 0; -ENOMEM. */
int radio_parts_make(struct radio_parts *parts, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape);
void radio_parts_clear(struct radio_parts *parts);
/* The sum of each state's power times its seconds, and of the rest, is radio_price_j() of the same amounts. */
void radio_parts_sum(const struct radio_parts *parts, const struct radio_amounts *amounts, struct radio_part_sums *ret);
