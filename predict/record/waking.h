/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Who woke the radio: by the automaton of the profile's [radio wifi], or by wifi.wake_mj for a burst, where packets are less than 50 ms
 * apart. What the radio takes beside its packets, until it rests again, belongs to the stack whose packet woke it; the bytes belong to
 * who sent or read them. Only the program's own packets are seen.
 */

#include <stdbool.h>
#include <stdint.h>

#include "radio/radio-run.h"

struct profile;

struct waking {
        const struct radio *radio; /* NULL: the profile has no automaton */
        struct radio_run run;
        double factor, rest_uw; /* on its energy; what it draws if nothing ever comes */
        size_t rest;            /* the state in which it rests */
        double wake_nj;         /* without an automaton; NaN: no price */
        uint64_t first_ns, last_ns;
        bool began;
        uint32_t waker;
};

struct waking_charge {
        bool woke;        /* this packet woke it */
        double own_nj;    /* of the packet, by the automaton; NaN without one: bytes have the profile's price */
        uint32_t waker;   /* who pays for the time before ... */
        double waker_nj;  /* ... so much; for a wake-up without an automaton at once */
};

/* @profile: NULL: none; must live as long. 0; -ENOMEM. */
int waking_open(struct waking *waking, const struct profile *profile);
/* @time_ns: not before the one before. @stack: of who sent or read it. 0; -ENOMEM. */
int waking_packet(struct waking *waking, uint64_t time_ns, enum radio_direction direction, uint64_t bytes, uint32_t stack, struct waking_charge *ret);
/* What is left to pay until it rests. 0; -ENOMEM. */
int waking_rest(struct waking *waking, struct waking_charge *ret);
void waking_close(struct waking *waking);
