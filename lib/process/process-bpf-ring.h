/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads a BPF ring buffer. libbpf would keep all of it mapped twice, which counts as 1 MB of our memory. Here
 * only the two positions stay mapped, and the data only while it is read.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

struct process_ring {
        int fd;                     /* the map; not owned */
        size_t size;                /* a power of two */
        atomic_u64 *consumed;       /* mapped; bytes consumed so far */
        const atomic_u64 *produced; /* mapped; bytes produced so far */
};

int process_ring_open(int fd, size_t size, struct process_ring *ret);
void process_ring_close(struct process_ring *ring); /* @ring may be all zeros */

/*
 * Calls @take for each record, in order. Stops at the first error; the record that caused it is consumed,
 * too.
 */
int process_ring_read(struct process_ring *ring, int (*take)(void *data, const void *bytes, size_t size),
                      void *data);
