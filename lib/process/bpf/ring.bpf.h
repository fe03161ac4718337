/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * The ring: what cannot wait for a walk. Ends and execs have one part of it (user.bpf.h), bursts of packets another, so
 * that neither takes the other's room.
 */

#define RING_HEADER 8

struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, EXITS_SIZE); /* and BURSTS_SIZE, if they are counted */
} exits SEC(".maps");

__u64 n_polls; /* of user space, which has emptied the ring */

struct {
        __u64 poll; /* in which there last was one */
        __u64 used_bytes; /* since then */
        __u64 lost; /* so many had no room, so far */
} bursts_room;

static __always_inline __u64 bursts_used(void)
{
        return bursts_room.poll == n_polls ? bursts_room.used_bytes : 0;
}

static __always_inline bool take_bursts_room(__u64 size)
{
        if (bursts_room.poll != n_polls) {
                bursts_room.poll = n_polls;
                bursts_room.used_bytes = 0;
        }
        return __sync_fetch_and_add(&bursts_room.used_bytes, size + RING_HEADER) + size + RING_HEADER <= BURSTS_SIZE;
}

/* Of the part for ends and execs. */
static __always_inline __u64 exits_free(void)
{
        __u64 bursts = bursts_used(), used = bpf_ringbuf_query(&exits, BPF_RB_AVAIL_DATA);

        used = used > bursts ? used - bursts : 0;
        return used < EXITS_SIZE ? EXITS_SIZE - used : 0;
}
