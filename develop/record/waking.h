/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Finds who woke the radio: by the automaton of the profile's [radio wifi], or by wifi.wake_mj for a burst, in which
 * packets are less than 50 ms apart. The radio's energy apart from its packets, until it rests again, is charged to the
 * stack whose packet woke it; the bytes are charged to who sent or read them. Only the program's own packets are seen.
 */

#include <stdbool.h>
#include <stdint.h>

#include "radio/radio-run.h"

struct profile;

struct waking {
        const struct radio *radio; /* NULL: the profile has no automaton */
        struct radio_run run;
        double factor, rest_uw; /* by which its energy is multiplied; its power in uW if no packet ever comes */
        size_t rest;            /* the state in which it rests */
        double wake_nj;         /* energy of a wake-up without an automaton; NaN: no price */
        uint64_t first_ns, last_ns;
        bool began;
        uint32_t waker;
};

struct waking_charge {
        bool woke;        /* this packet woke the radio */
        double own_nj;    /* the packet's energy by the automaton; NaN without one: bytes have the profile's price */
        uint32_t waker;   /* the stack that is charged for the time since the packet before ... */
        double waker_nj;  /* ... and its energy; without an automaton, that of a wake-up by this packet */
};

/* @profile: NULL: none; must outlive it. 0; -ENOMEM. */
int waking_open(struct waking *waking, const struct profile *profile);
/* @time_ns: not before that of the packet before. @stack: the stack that sent or read it. 0; -ENOMEM. */
int waking_packet(struct waking *waking, uint64_t time_ns, enum radio_direction direction, uint64_t bytes,
                  uint32_t stack, struct waking_charge *ret);
/* Energy that is still to be charged until the radio rests. 0; -ENOMEM. */
int waking_rest(struct waking *waking, struct waking_charge *ret);
void waking_close(struct waking *waking);
