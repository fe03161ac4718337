/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Totals over devices that come and go, each of which counts two ways (received and sent, read and written). A device
 * is a name and the number that the kernel gives it (ifindex, diskseq); another number is another device. A sum never
 * goes backward, and grows only by what a device can have moved while it was watched:
 *
 * - A counter that fell counts nothing at that reading, and goes on from there. Once it is above its highest value
 *   again, it goes on from that one: then the lower values were not its own.
 * - A counter of 32 bits that wrapped goes on: it fell while the other way did not, and as far as is within reach.
 * - A device that was away goes on from where it was, and one that was renamed, too.
 * - A new device counts from what it first shows, or from 0 where the kernel starts each at 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNTER_CLASSES 3

struct counter {
        char name[64];
        uint64_t number;   /* 0: unknown, as any */
        unsigned class;    /* which of the sums it adds to: below COUNTER_CLASSES */
        uint64_t value[2];
};

struct counter_known;

struct counters {
        bool from_zero;    /* a device that comes later has counted from 0 */
        bool wraps;        /* some count with 32 bits */
        bool started;
        uint64_t total[COUNTER_CLASSES][2];
        struct counter *seen; /* in the reading that is being made */
        size_t n_seen, seen_capacity;
        struct counter_known *known;
        size_t n_known, known_capacity;
};

/* One reading: counter_see() for each device, then counter_add_up(). */
int counter_see(struct counters *counters, const struct counter *counter);
int counter_add_up(struct counters *counters);
void counter_clear(struct counters *counters); /* frees its memory */

/* Reads a file of any length into memory that is kept and grows. As util_read_at(); above 64 MB: -EFBIG. */
ssize_t counter_read_text(int dir_fd, const char *path, char **text, size_t *capacity);
