/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* From the records of events to stacks with their energy. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "places.h"
#include "price.h"
#include "words.h"

/* What was counted, by stack. */
struct line {
        uint64_t samples;
        double cpu_ns;
        double energy_nj[COMPONENT_COUNT]; /* those of CPU, disk, WiFi and GPU are used; without a profile CPU time in ns */
        double variance_nj2;               /* of their sum, as samples are few: the sum of squares */
        double largest_nj;                 /* sample of that sum */
        double count[EVENT_COUNT];         /* bytes of EVENT_DIRTY, EVENT_READ, EVENT_SEND, EVENT_RECEIVE; how many of EVENT_SLEEP, EVENT_DRAW */
        double gpu_ns;
        uint64_t radio_wakes;
};

struct recording {
        struct words *frames;
        struct words *stacks; /* each the numbers of its frames, as uint32_t, the outermost first */
        struct line *lines;   /* by the number of the stack */
        size_t n, capacity;

        uint64_t samples;     /* of CPU time */
        uint64_t cut;         /* thereof: did not reach the first function of their thread */
        uint64_t without_app; /* thereof: had no frame of the program, nor of the loader before it */
        uint64_t lost;        /* samples that the kernel had no room for */
        uint64_t threads, threads_placed; /* that began; thereof below the call that made them */
        uint64_t work, work_placed;       /* pieces that were passed on; thereof below the call that did so */
        uint64_t gpu_ns;      /* that a GPU worked for it */
        double air_rx_bytes, air_tx_bytes; /* of those bytes, over WiFi */
        struct places places;
};

/**
 * replay() - read the file that events_drain() wrote
 * @tracepoints: where their fields are; NULL: there are none
 * @gpu_ns:      that a GPU worked
 * @totals:      how many events of each kind there were, as samples stand for all of them; 0: unknown
 *
 * Return: 0; -EINVAL: it is no such file; another negative errno. Clear @ret in any case.
 */
int replay(int spool_fd, const struct event_ids *ids, const struct tracepoints *tracepoints,
           const double totals[EVENT_COUNT], uint64_t gpu_ns, struct prices *prices, struct recording *ret);
void replay_clear(struct recording *recording);
