/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Limits each user's share of the ring's part for ends and execs. A user may take at most so many times the
 * room that is left for all others; the factor is smaller for processes that began after the last walk, as
 * thousands of these may end in a second. Processes without room are summed up for their user, so a flood of
 * processes only loses the details of its own user.
 */

#define SHARE_NEW 3 /* a single user gets three quarters of the ring */
#define SHARE_OLD 7 /* and here seven eighths */

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, 1024);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(struct user_ends)); /* plus one __u64 per operating point, set at load */
} users SEC(".maps");

/* Scratch memory: a process's times by operating point. */
struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(__u64)); /* one __u64 per operating point, set at load */
} opps_scratch SEC(".maps");

const volatile struct {
        struct user_ends ends;
        __u64 opps[BPF_OPPS_MAX];
} no_ends;

__u64 summed_ends; /* over all users */

#define NAMESPACES_MAX 34 /* the kernel does not nest more */

/*
 * The user responsible for a process: its own user or, in a user namespace, the creator of the outermost one,
 * who chose all uids in it; anyone may have thousands of those.
 */
static __always_inline __u32 who_answers(const struct task_struct *task)
{
        const struct cred *cred = read_only(task)->cred;
        struct user_namespace *namespace = cred->user_ns;
        __u32 uid = cred->uid.val;

        for (int i = 0; i < NAMESPACES_MAX; i++) {
                struct user_namespace *parent = BPF_CORE_READ(namespace, parent);

                if (!parent)
                        break;
                uid = BPF_CORE_READ(namespace, owner.val);
                namespace = parent;
        }
        return uid;
}

/* NULL: there are too many users. */
static __always_inline struct user_ends *user_of(const struct task_struct *task)
{
        __u32 uid = who_answers(task);
        struct user_ends *user = bpf_map_lookup_elem(&users, &uid);

        if (user)
                return user;
        bpf_map_update_elem(&users, &uid, (const void *)&no_ends, BPF_NOEXIST);
        return bpf_map_lookup_elem(&users, &uid);
}

static __always_inline bool is_new(const struct task_struct *task)
{
        return task->start_boottime >= last_walk_ns;
}

/* Reserves @size bytes in the user's share; false: there is no room. */
static __always_inline bool take_share(struct user_ends *user, __u64 size, bool fresh)
{
        __u64 free = exits_free();

        if (!user)
                return 1;
        if (user->poll != n_polls) {
                user->poll = n_polls;
                user->used_bytes = 0;
        }
        size += RING_HEADER;
        if (user->used_bytes + size > free * (fresh ? SHARE_NEW : SHARE_OLD))
                return 0;
        __sync_fetch_and_add(&user->used_bytes, size);
        return 1;
}

static __always_inline void add(__u64 *sum, __u64 n)
{
        if (n)
                __sync_fetch_and_add(sum, n);
}

static __always_inline void sum_opps(struct user_ends *user, struct task_struct *task)
{
        __u64 *sums = (__u64 *)(user + 1), *own;
        __u32 zero = 0;

        own = bpf_map_lookup_elem(&opps_scratch, &zero);
        if (!own)
                return;
        clear_opps(own);
        add_thread_opps(task, own);
        for (__u32 i = 0; i < BPF_OPPS_MAX; i++) {
                if (i >= n_opps)
                        break;
                add(&sums[i], own[i]);
        }
}

static __always_inline void sum_net(struct user_ends *user, struct task_struct *task)
{
        struct net_totals own;

        read_net(task, &own);
        add(&user->net.wifi_rx_bytes, own.wifi_rx_bytes);
        add(&user->net.wifi_tx_bytes, own.wifi_tx_bytes);
        add(&user->net.wifi_wakes, own.wifi_wakes);
        add(&user->net.other_rx_bytes, own.other_rx_bytes);
        add(&user->net.other_tx_bytes, own.other_tx_bytes);
        add(&user->net.wifi_rx_packets, own.wifi_rx_packets);
        add(&user->net.wifi_tx_packets, own.wifi_tx_packets);
        add(&user->net.other_rx_packets, own.other_rx_packets);
        add(&user->net.other_tx_packets, own.other_tx_packets);
}

/* @io: add the io, as no parent gets it. */
static __always_inline void sum_end(struct user_ends *user, struct task_struct *task, bool io)
{
        struct process_totals own = {};

        if (io)
                add_io(&own, &read_only(task)->signal->ioac);
        add(&user->totals.cpu_ns, read_only(task)->signal->sum_sched_runtime);
        add(&user->totals.read_bytes, own.read_bytes);
        add(&user->totals.write_bytes, own.write_bytes);
        add(&user->totals.cancelled_write_bytes, own.cancelled_write_bytes);
        if (with_cpu)
                sum_opps(user, task);
        if (with_net)
                sum_net(user, task);
        add(&user->n, 1);
        add(&summed_ends, 1);
}
