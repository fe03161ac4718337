/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the radio of a virtual device really draws, packet by packet, and who pays it (docs/radios.md). It shares
 * with lib/radio/ the parsed sections and nothing else, so that two implementations can be compared.
 *
 * A span lasts from the packet that leads the radio away from where silence leaves it until it is back there. Who
 * opened the span pays its promotion (states of fixed time at its begin) and its tail (after the last packet); what
 * lies between is shared by packets; a packet's own price is its owner's. All that is above what the radio draws if nothing
 * ever comes: that is base, also within spans.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio.h"

#define AUTOMATON_HELD_MAX 1000000 /* packets that wait for a pulse */

__extension__ typedef __int128 fj; /* 1e-15 J: a uW for a ns. Exact, however time is cut. */

/* A state, in integers. */
struct automaton_state {
        int64_t power_uw, pulse_uw;        /* the pulse's beside the power; it may be less */
        uint64_t on_ns, period_ns;         /* 0: no pulses */
        struct {
                bool given, at_pulse;
                size_t state;
                uint64_t least_bytes;
                fj byte_fj, packet_fj;
        } on[RADIO_DIRECTIONS];
        bool ends, fixed;                  /* by a timer, after: */
        uint64_t after_ns;
        size_t next;
        bool counts;                       /* on_rate */
        uint64_t rate_packets, rate_ns;
        size_t busier;
        bool resets;                       /* not each packet restarts the timer */
        uint64_t reset_bytes, reset_packets, reset_ns;
        bool rests;                        /* silence leads here in the end */
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
        int64_t rest_uw;                   /* if nothing ever comes, after a first packet; pulses at their mean */
        double ns_per_byte[RADIO_DIRECTIONS];

        uint64_t now_ns, began_ns;         /* the state */
        uint64_t quiet_ns;                 /* the end of the last packet that restarted the timer */
        uint64_t air_ns;                   /* the end of the last packet */
        size_t state;
        struct automaton_packet *recent;   /* a ring of RADIO_PACKETS_MAX */
        uint64_t n_packets;                /* all that came */
        struct automaton_packet *held;     /* until heard_ns */
        size_t n_held, n_heard, held_capacity; /* the first n_heard have come since */
        uint64_t heard_ns;
        bool fresh;                        /* the state began in this moment, which is why they are heard */

        fj state_energy[RADIO_STATES_MAX], base;
        uint64_t state_ns[RADIO_STATES_MAX];
        struct automaton_owner *owners;
        size_t n_owners, owners_capacity;
        struct {
                bool open, promoting;
                size_t opener;
                uint64_t packets;
                fj promotion, shared, tail; /* the last may still turn out to be shared */
        } span;
};

/* Begins in the initial state at @now_ns. 0; -ENOMEM. */
int automaton_init(struct automaton *automaton, const struct radio *radio, uint64_t now_ns);
void automaton_clear(struct automaton *automaton);
/* As if switched off and on: what was open ends, and what was held is lost. Energies stay. */
void automaton_restart(struct automaton *automaton, uint64_t now_ns);

/* A packet at @now_ns, not before an earlier call's time. 0; -ENOMEM; -ENOBUFS: too many wait for a pulse. */
int automaton_packet(struct automaton *automaton, uint64_t now_ns, enum radio_direction direction, uint64_t bytes,
                     size_t owner);
/* 0; -ENOMEM. */
int automaton_run(struct automaton *automaton, uint64_t until_ns);

/* Of now, pulses at their mean. */
double automaton_power_w(const struct automaton *automaton);
/* All of it, which is that of all states; that of an owner, with what an open span is so far. */
fj automaton_total(const struct automaton *automaton);
fj automaton_of(const struct automaton *automaton, size_t owner);
/* Energies begin at 0; what is open stays open. */
void automaton_forget(struct automaton *automaton);
