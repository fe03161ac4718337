/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes stacks with their energy from the records of events. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "places.h"
#include "price.h"
#include "words.h"

/* The counts of one stack. */
struct line {
        uint64_t samples;
        double cpu_ns;
        /* CPU, disk, WiFi and GPU are used. Without a profile, that of the CPU is its time in ns. */
        double energy_nj[COMPONENT_COUNT];
        double variance_nj2;               /* variance of their sum, as there are few samples: their sum of squares */
        double largest_nj;                 /* largest sample in that sum */
        /*
         * Bytes for EVENT_DIRTY, EVENT_READ, EVENT_SEND, EVENT_RECEIVE; number of events for EVENT_SLEEP, EVENT_DRAW.
         */
        double count[EVENT_COUNT];
        double gpu_ns;
        uint64_t radio_wakes;
};

struct recording {
        struct words *frames;
        struct words *stacks; /* each the numbers of its frames, as uint32_t, the outermost first */
        struct line *lines;   /* by the number of the stack */
        size_t n, capacity;

        uint64_t samples;     /* samples of CPU time */
        uint64_t cut;         /* samples that do not reach the first function of their thread */
        uint64_t without_app; /* samples with no frame of the program, nor on the stack that made the thread */
        uint64_t lost;        /* samples that the kernel had no room for */
        uint64_t threads, threads_placed; /* threads that began; those of them that are below the call that made them */
        uint64_t work, work_placed;       /* pieces of work that were passed on; those below the call that did so */
        uint64_t gpu_ns;      /* time that a GPU worked for the program */
        double air_rx_bytes, air_tx_bytes; /* bytes received and sent over WiFi */
        struct places places;
};

struct perf_times;

/**
 * replay() - read the file that events_drain() wrote
 * @tracepoints: places of their fields in a sample; NULL: there are none
 * @code:        lengths of the perf maps (names of code without a file) over time
 * @gpu_ns:      time that a GPU worked
 * @totals:      number of events of each kind, as samples stand for all of them; 0: unknown
 *
 * Return: 0; -EINVAL: it is no such file; another negative errno. Clear @ret in any case.
 */
int replay(int spool_fd, const struct event_ids *ids, const struct tracepoints *tracepoints,
           const struct perf_times *code, const double totals[EVENT_COUNT], uint64_t gpu_ns,
           struct prices *prices, struct recording *ret);
void replay_clear(struct recording *recording);
