/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define MJ_PER_J 1e3

/* A radio with the same rules, and no power but that of @state. 0; -ENOMEM. */
static int copy_part(const struct radio *radio, size_t state, bool pulses, bool packets, struct radio *ret)
{
        struct radio_state *states = malloc(radio->n_states * sizeof(*states));

        if (!states)
                return -ENOMEM;
        memcpy(states, radio->states, radio->n_states * sizeof(*states));
        *ret = *radio;
        ret->states = states;
        for (size_t i = 0; i < radio->n_states; i++) {
                states[i].power_mw.value = i == state ? 1 : 0;
                for (size_t s = 0; s < RADIO_SIGNALS; s++)
                        states[i].signal_mw[s].value = NAN;
                if (!pulses)
                        states[i].pulse.mw = 0;
                for (size_t d = 0; !packets && d < RADIO_DIRECTIONS; d++)
                        states[i].nj_per_byte[d].value = states[i].nj_per_packet[d].value = NAN;
        }
        for (size_t d = 0; !packets && d < RADIO_DIRECTIONS; d++)
                ret->nj_per_byte[d].value = ret->nj_per_packet[d].value = NAN;
        return 0;
}

static int make(const struct radio *radio, enum radio_signal signal, const struct radio_shape *shape, size_t state,
                bool pulses, bool packets, struct radio_price *ret)
{
        _cleanup_(radio_clear) struct radio part = { 0 };
        int err = copy_part(radio, state, pulses, packets, &part);

        return err ? err : radio_price_make(ret, &part, signal, shape);
}

int radio_parts_make(struct radio_parts *parts, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape)
{
        struct radio_parts made = { .n_states = radio->n_states,
                                    .states = calloc(radio->n_states, sizeof(*made.states)) };
        int err = made.states ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i < radio->n_states; i++)
                err = make(radio, signal, shape, i, false, false, &made.states[i]);
        if (!err)
                err = make(radio, signal, shape, SIZE_MAX, true, false, &made.pulses);
        if (!err)
                err = make(radio, signal, shape, SIZE_MAX, false, true, &made.packets);
        if (err)
                radio_parts_clear(&made);
        else
                *parts = made;
        return err;
}

void radio_parts_clear(struct radio_parts *parts)
{
        for (size_t i = 0; parts->states && i < parts->n_states; i++)
                radio_price_clear(&parts->states[i]);
        free(parts->states);
        radio_price_clear(&parts->pulses);
        radio_price_clear(&parts->packets);
        *parts = (struct radio_parts){ 0 };
}

void radio_parts_sum(const struct radio_parts *parts, const struct radio_amounts *amounts, struct radio_part_sums *ret)
{
        *ret = (struct radio_part_sums){ .pulses_j = radio_price_j(&parts->pulses, amounts),
                                         .packets_j = radio_price_j(&parts->packets, amounts) };
        for (size_t i = 0; i < parts->n_states; i++)
                ret->state_s[i] = radio_price_j(&parts->states[i], amounts) * MJ_PER_J;
}
