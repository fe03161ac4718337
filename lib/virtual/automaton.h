/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The true energy of a virtual device's radio, packet by packet, and its owners (docs/radios.md). It shares
 * only the parsed sections with lib/radio/, so that two implementations can be compared.
 *
 * A span lasts from the packet that takes the radio out of the state where silence ends until the radio is
 * back there. The owner who opened the span is charged its promotion (states of fixed time at its beginning)
 * and its tail (after the last packet). The time between is shared in proportion to packets, and a packet's
 * own price goes to its owner. All of this is above the power that the radio draws if no packet ever comes;
 * that power is part of the base, also within spans.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio.h"
#include "util/wide.h"

#define AUTOMATON_HELD_MAX 1000000 /* packets that wait for a pulse */

typedef int_wide fj; /* 1e-15 J, a uW for a ns; exact, however time is divided */

/* A state, in integers. */
struct automaton_state {
        int64_t power_uw, pulse_uw;        /* pulse_uw: power of the pulse in addition; it may be negative */
        uint64_t on_ns, period_ns;         /* 0: no pulses */
        struct {
                bool given, at_pulse;
                size_t state;
                uint64_t least_bytes;
                fj byte_fj, packet_fj;
        } on[RADIO_DIRECTIONS];
        bool ends, fixed;                  /* a timer ends the state, after: */
        uint64_t after_ns;
        size_t next;
        bool counts;                       /* has a rule on_rate */
        uint64_t rate_packets, rate_ns;
        size_t busier;
        bool resets;                       /* some packets do not restart the timer */
        uint64_t reset_bytes, reset_packets, reset_ns;
        bool rests;                        /* silence ends here */
};

struct automaton_packet {
        uint64_t time_ns, bytes;
        size_t owner;
        enum radio_direction direction;
};

struct automaton_owner {
        fj energy;
        uint64_t packets; /* in this span */
};

struct automaton {
        struct automaton_state states[RADIO_STATES_MAX];
        size_t n_states, initial;
        int64_t rest_uw; /* power if no packet comes after a first one; pulses at their mean */
        double ns_per_byte[RADIO_DIRECTIONS];

        uint64_t now_ns, began_ns;         /* now, and the beginning of the state */
        uint64_t quiet_ns;                 /* end of the last packet that restarted the timer */
        uint64_t air_ns;                   /* end of the last packet */
        size_t state;
        struct automaton_packet *recent;   /* a ring of RADIO_PACKETS_MAX */
        uint64_t n_packets;                /* number of all packets */
        struct automaton_packet *held;     /* packets waiting until heard_ns */
        size_t n_held, n_heard, held_capacity; /* the first n_heard have been received since */
        uint64_t heard_ns;
        bool fresh; /* the state began at this moment, so waiting packets may be received */

        fj state_energy[RADIO_STATES_MAX], base;
        uint64_t state_ns[RADIO_STATES_MAX];
        struct automaton_owner *owners;
        size_t n_owners, owners_capacity;
        struct {
                bool open, promoting;
                size_t opener;
                uint64_t packets;
                fj promotion, shared, tail; /* the tail may still turn out to be shared */
        } span;
};

/* Begins in the initial state at @now_ns. Returns 0 or -ENOMEM. */
int automaton_init(struct automaton *automaton, const struct radio *radio, uint64_t now_ns);
void automaton_clear(struct automaton *automaton);
/* Acts as if switched off and on: the open span ends, and waiting packets are lost. Energies stay. */
void automaton_restart(struct automaton *automaton, uint64_t now_ns);

/*
 * Handles a packet at @now_ns, which is not before the time of an earlier call. Returns 0; -ENOMEM; -ENOBUFS:
 * too many wait for a pulse.
 */
int automaton_packet(struct automaton *automaton, uint64_t now_ns, enum radio_direction direction, uint64_t bytes,
                     size_t owner);
/* Returns 0 or -ENOMEM. */
int automaton_run(struct automaton *automaton, uint64_t until_ns);

/* Present power, pulses at their mean. */
double automaton_power_w(const struct automaton *automaton);
/* Energy of all states, and that of one owner including an open span so far. */
fj automaton_total(const struct automaton *automaton);
fj automaton_of(const struct automaton *automaton, size_t owner);
/* Sets energies to 0; an open span continues. */
void automaton_forget(struct automaton *automaton);
