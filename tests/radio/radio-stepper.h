/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A second implementation of docs/radios.md, written from that page without a look at lib/radio/radio-run.c: it looks
 * at the radio tick by tick, and never jumps. Every time that it is given must be a whole number of ticks.
 */

#include "radio/radio.h"

struct stepper_packet {
        int64_t tick;
        enum radio_direction direction;
        uint64_t bytes;
};

struct stepper_total {
        int64_t ticks;
        double joules;
};

/*
 * Packets from @until on are left out; one that waited for a pulse at @until is received. @totals has room for each
 * state.
 */
void stepper_run(const struct radio *radio, enum radio_signal signal, int64_t tick_ns,
                 const struct stepper_packet *packets, size_t n_packets, int64_t until, struct stepper_total *totals);
