/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads a BPF ring buffer. libbpf keeps all of it mapped, twice, which is 1 MB of our memory. Here only the two
 * positions stay mapped, and data only while it is read.
 */

#include <stddef.h>
#include <stdint.h>

struct process_ring {
        int fd;                     /* of the map; not owned */
        size_t size;                /* a power of two */
        uint64_t *consumed;         /* mapped; position in bytes since the beginning ... */
        const uint64_t *produced;   /* ... of the consumer and the producer */
};

int process_ring_open(int fd, size_t size, struct process_ring *ret);
void process_ring_close(struct process_ring *ring); /* also one that is all zeros */

/* Calls @take for each record, in order, and stops where it fails; that record is consumed, too. */
int process_ring_read(struct process_ring *ring, int (*take)(void *data, const void *bytes, size_t size),
                      void *data);
