/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * The ring holds events that cannot wait for a walk. Ends and execs have one part of it (user.bpf.h) and
 * bursts of packets another, so that neither takes the other's room.
 */

#define RING_HEADER 8

struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, EXITS_SIZE); /* plus BURSTS_SIZE if bursts are counted */
} exits SEC(".maps");

__u64 n_polls; /* number of user space's polls, each of which empties the ring */

struct {
        __u64 poll; /* poll in which the last record was written */
        __u64 used_bytes; /* since that poll */
        __u64 lost; /* records that had no room, since the programs were loaded */
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

/* Free bytes in the part for ends and execs. */
static __always_inline __u64 exits_free(void)
{
        __u64 bursts = bursts_used(), used = bpf_ringbuf_query(&exits, BPF_RB_AVAIL_DATA);

        used = used > bursts ? used - bursts : 0;
        return used < EXITS_SIZE ? EXITS_SIZE - used : 0;
}
