/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Energy of a radio for a sequence of packets, by stepping its automaton.
 *
 * Time is in ns since the run began, power in uW, energy in fJ (uW x ns). All are integers, so the result
 * does not depend on how often it is read. If a timer ends at the moment when a packet comes, the timer is
 * handled first. A packet is charged to the state that it leads to.
 */

#include "radio.h"
#include "util/wide.h"

/* Latest end of a packet; any timer can be added to it without overflow. */
#define RADIO_NS_MAX (INT64_MAX / 2)

#define RADIO_SECONDS_MAX 2678400.0 /* a month: short enough to simulate a timer of 1 ms */

struct radio_packet {
        int64_t time_ns; /* since the run began */
        uint64_t bytes;  /* at most RADIO_BYTES_MAX */
};

/*
 * Parses a row of seconds (0 to RADIO_SECONDS_MAX), direction and bytes without a newline, such as
 * "1.25,tx,1500". Changes @line. Returns 0; -EINVAL; -ENOMEM.
 */
int radio_packet_parse(char *line, struct radio_packet *ret, enum radio_direction *direction);

typedef int_wide radio_fj; /* 1e-15 J, a uW for a ns */

struct radio_total {
        int64_t ns;  /* time spent in the state */
        radio_fj fj; /* energy of its power, its pulses, and the bytes and packets in it */
};

struct radio_run {
        const struct radio *radio;
        enum radio_signal signal;
        size_t state;
        int64_t now_ns, entered_ns;
        int64_t busy_until_ns;         /* end of the last packet */
        int64_t restarted_ns; /* the timer runs from then, or from the state's beginning if that is later */
        struct radio_total totals[RADIO_STATES_MAX];
        /* ring of n_kept packets if a rule counts, else NULL; an entry's bytes: the total before it */
        struct radio_packet *recent;
        size_t n_kept;
        uint64_t n_recent, bytes;      /* totals since the run began */
        struct radio_packet *waiting;  /* packets that wait for a pulse */
        size_t n_waiting, capacity;
};

/*
 * Begins in the initial state at time 0. @radio must outlive the run; end with radio_run_clear(). Returns 0;
 * -ENOMEM, and nothing needs clearing.
 */
int radio_run_start(struct radio_run *run, const struct radio *radio, enum radio_signal signal);
void radio_run_clear(struct radio_run *run);
/*
 * Lets time pass without a packet up to @time_ns; does nothing if that is in the past. Returns 0 or -ENOMEM.
 */
int radio_run_until(struct radio_run *run, int64_t time_ns);
/* Handles a packet at @time_ns, which is not before the previous packet. Returns 0 or -ENOMEM. */
int radio_run_packet(struct radio_run *run, int64_t time_ns, enum radio_direction direction, uint64_t bytes);
/* Energy of all states until now. */
double radio_run_energy_j(const struct radio_run *run);
/* Energy of one state, given as radio_run.totals[STATE]. */
double radio_total_j(const struct radio_total *total);
