/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Bursts of packets of one process over one radio: packets less than 50 ms apart.
 *
 * A burst is written to the ring when a packet comes after a longer silence, when its process ends or
 * executes a program, and (as far as it has come) when user space polls.
 *
 * Several CPUs count at the same time, and user space takes the counts, without a lock, since a tracing
 * program may not hold one. Packets, bytes and large packets are added to counters, and taken by an atomic
 * exchange, so that each is reported once. A compare-and-exchange of the last packet's time decides which CPU
 * begins a new burst. A packet that another CPU counts at that moment, or during a poll, may be reported with
 * the burst before or after its own.
 */

struct burst {
        __u64 first_ns; /* first packet not yet reported; 0: same as last_ns */
        __u64 last_ns;
        __u64 bytes[2]; /* sent, received */
        __u32 packets[2];
        __u32 large;
        __u32 tick; /* jiffy of last_ns */
};

struct bursts {
        __u64 start_ns; /* start of its process */
        __u32 pid;
        __u32 open;     /* listed in open_bursts */
        struct burst of[BURST_RADIOS];
};

static struct bursts nobodys; /* packets that belong to no process */

/*
 * Processes with packets that were not yet reported. Not a BPF queue, since tell_bursts() may sleep, and
 * Linux 6.1 does not allow such a program to use one.
 */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, BURSTS_OPEN_MAX);
        __type(key, __u32);
        __type(value, __u64);
} open_bursts SEC(".maps");

struct {
        __u32 put, taken; /* totals; modulo the size they are indices */
} n_open_bursts;

#define NOBODY 1 /* entry for `nobodys`; 0: not written yet */

static __always_inline bool put_open(__u64 who)
{
#pragma unroll
        for (int attempt = 0; attempt < 8; attempt++) {
                __u32 at = n_open_bursts.put, index = at % BURSTS_OPEN_MAX;
                __u64 *place;

                if (at - n_open_bursts.taken >= BURSTS_OPEN_MAX)
                        return 0;
                if (__sync_val_compare_and_swap(&n_open_bursts.put, at, at + 1) != at)
                        continue;
                place = bpf_map_lookup_elem(&open_bursts, &index);
                if (place)
                        *place = who;
                return 1;
        }
        return 0;
}

/* Returns 0 if there are no more. */
static __always_inline __u64 take_open(void)
{
        __u32 at = n_open_bursts.taken, index = at % BURSTS_OPEN_MAX;
        __u64 *place = bpf_map_lookup_elem(&open_bursts, &index), who;

        if (!place || at == n_open_bursts.put)
                return 0;
        who = __sync_lock_test_and_set(place, 0);
        if (who)
                n_open_bursts.taken = at + 1;
        return who;
}

/* Packets are taken first and counted last, so bytes never appear without their packet. */
static __always_inline void tell_burst(struct bursts *bursts, __u32 radio, __u64 first_ns, __u64 last_ns)
{
        struct burst *burst = &bursts->of[radio];
        struct burst_record record = {
                .pid = bursts->pid,
                .kind = RECORD_BURST,
                .start_ns = bursts->start_ns,
                .first_ns = first_ns && first_ns < last_ns ? first_ns : last_ns,
                .last_ns = last_ns,
                .radio = radio,
        };

        record.packets[0] = __sync_lock_test_and_set(&burst->packets[0], 0);
        record.packets[1] = __sync_lock_test_and_set(&burst->packets[1], 0);
        if (!record.packets[0] && !record.packets[1])
                return;
        record.bytes[0] = __sync_lock_test_and_set(&burst->bytes[0], 0);
        record.bytes[1] = __sync_lock_test_and_set(&burst->bytes[1], 0);
        record.large = __sync_lock_test_and_set(&burst->large, 0);
        if (!take_bursts_room(sizeof(record)) || bpf_ringbuf_output(&exits, &record, sizeof(record), BPF_RB_NO_WAKEUP))
                __sync_fetch_and_add(&bursts_room.lost, 1);
}

/* Reports all open bursts as far as they have come; the next packet begins the remainder. */
static __always_inline void tell_open(struct bursts *bursts)
{
        for (__u32 radio = 0; radio < BURST_RADIOS; radio++) {
                struct burst *burst = &bursts->of[radio];
                __u64 first_ns = burst->first_ns, last_ns = burst->last_ns;

                burst->first_ns = 0;
                tell_burst(bursts, radio, first_ns, last_ns);
        }
}

struct seen_packets {
        bool received;
        __u32 n;
        __u64 bytes;
        __u32 length; /* with headers */
};

/*
 * The clock is read once per jiffy, since reading it takes longer than everything else. So a burst's last
 * packet may come up to a jiffy after last_ns, and a silence may seem too long by as much.
 */
static __always_inline void time_packet(struct bursts *bursts, __u32 radio)
{
        struct burst *burst = &bursts->of[radio];
        __u64 first_ns = burst->first_ns, last_ns, now_ns;
        __u32 tick = bpf_jiffies64();

        if (first_ns && burst->tick == tick)
                return;
        last_ns = burst->last_ns;
        now_ns = bpf_ktime_get_boot_ns();
        burst->tick = tick;
        if ((__s64)(now_ns - last_ns) >= BURST_GAP_NS &&
            __sync_val_compare_and_swap(&burst->last_ns, last_ns, now_ns) == last_ns) {
                burst->first_ns = now_ns;
                tell_burst(bursts, radio, first_ns, last_ns);
                return;
        }
        if (!first_ns)
                burst->first_ns = now_ns;
        burst->last_ns = now_ns;
}

static __always_inline void count_burst(struct bursts *bursts, __u64 who, int kind, const struct seen_packets *seen)
{
        __u32 radio = kind == KIND_CELLULAR ? BURST_CELLULAR : BURST_WIFI;
        struct burst *burst = &bursts->of[radio];

        time_packet(bursts, radio);
        if (seen->length >= seen->n * BURST_LARGE_BYTES)
                __sync_fetch_and_add(&burst->large, seen->n);
        if (seen->bytes)
                __sync_fetch_and_add(&burst->bytes[seen->received], seen->bytes);
        __sync_fetch_and_add(&burst->packets[seen->received], seen->n);
        if (!bursts->open && __sync_lock_test_and_set(&bursts->open, 1) == 0 && !put_open(who)) {
                bursts->open = 0; /* the list is full: reported later */
                __sync_fetch_and_add(&bursts_room.lost, 1);
        }
}
