/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Energy of a radio for a sequence of packets. Time is in ns since the run began, power in uW, energy in fJ (uW x ns): all
 * integers, so that the result does not depend on how often it is asked for. If a timer ends when a packet comes, the
 * timer is first. A packet belongs to the state that it leads to.
 */

#include "radio.h"

/* The latest end of a packet: any timer can be added to it without overflow. */
#define RADIO_NS_MAX (INT64_MAX / 2)

#define RADIO_SECONDS_MAX 2678400.0 /* a month, so that a timer of 1 ms can be played in time */

struct radio_packet {
        int64_t time_ns; /* since the run began */
        uint64_t bytes;  /* at most RADIO_BYTES_MAX */
};

/*
 * A row of seconds (0..RADIO_SECONDS_MAX), direction and bytes without a newline, "1.25,tx,1500"; @line is changed.
 * 0; -EINVAL; -ENOMEM.
 */
int radio_packet_parse(char *line, struct radio_packet *ret, enum radio_direction *direction);

__extension__ typedef __int128 radio_fj; /* 1e-15 J: a uW for a ns */

struct radio_total {
        int64_t ns;  /* spent in the state */
        radio_fj fj; /* of its power, its pulses and the bytes and packets in it */
};

struct radio_run {
        const struct radio *radio;
        enum radio_signal signal;
        size_t state;
        int64_t now_ns, entered_ns;
        int64_t busy_until_ns;         /* the last packet's end */
        int64_t restarted_ns;          /* the timer runs since then, or since the state began if that is later */
        struct radio_total totals[RADIO_STATES_MAX];
        struct radio_packet *recent;   /* ring of n_kept if a rule counts, else NULL; bytes: of all before it */
        size_t n_kept;
        uint64_t n_recent, bytes;      /* ever */
        struct radio_packet *waiting;  /* for a pulse */
        size_t n_waiting, capacity;
};

/* In the initial state at time 0. @radio must outlive it. radio_run_clear() it. 0; -ENOMEM: nothing is to be cleared. */
int radio_run_start(struct radio_run *run, const struct radio *radio, enum radio_signal signal);
void radio_run_clear(struct radio_run *run);
/* Time passes without a packet, up to @time_ns; nothing where that is before now. 0; -ENOMEM. */
int radio_run_until(struct radio_run *run, int64_t time_ns);
/* A packet comes at @time_ns, which is not before the one before. 0; -ENOMEM. */
int radio_run_packet(struct radio_run *run, int64_t time_ns, enum radio_direction direction, uint64_t bytes);
/* Of all states until now. */
double radio_run_energy_j(const struct radio_run *run);
/* The same of one, which is radio_run.totals[STATE]. */
double radio_total_j(const struct radio_total *total);
