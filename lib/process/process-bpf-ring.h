/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The reading end of a BPF ring buffer. libbpf's keeps all of it mapped, and twice, so that a record may run
 * over the end: 1 MB that counts as the service's. Here only two positions stay mapped, and of the rest what
 * is there to be read, while it is read.
 */

#include <stddef.h>
#include <stdint.h>

struct process_ring {
        int fd;                     /* of the map; not owned */
        size_t size;                /* a power of two */
        uint64_t *consumed;         /* mapped; bytes since the beginning ... */
        const uint64_t *produced;   /* ... as this */
};

int process_ring_open(int fd, size_t size, struct process_ring *ret);
void process_ring_close(struct process_ring *ring); /* also one that is all zeros */

/*
 * Calls @take for each record, in their order,
 * and stops where it fails: that one was told, and is not again.
 */
int process_ring_read(struct process_ring *ring, int (*take)(void *data, const void *bytes, size_t size),
                      void *data);
