/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Bytes through a tunnel leave the machine over another interface: a VPN's bytes over WiFi are WiFi bytes of
 * the app that sends them.
 *
 * The kernel's own tunnels (wireguard, ipip) send the outer packets without a process. For a tun device a
 * process sends them, its carrier, which would count the same bytes a second time. So the bytes that apps
 * moved through the tunnel are subtracted from the carrier's; it keeps the headers and its own traffic.
 */

struct interface interfaces[INTERFACES_MAX]; /* radios and tunnels; like `carriers`, set by user space, for */
__u32 own_namespace;                 /* this network namespace, given by its inode */
__u32 has_radio;                     /* at least one interface is a radio */
__u64 carriers[CARRIERS_MAX];        /* who_is() of each; 0 ends the list */
__u64 carriers_found[CARRIERS_MAX];  /* found by the last walk through all open files */
__u32 n_carriers_found;

struct {
        __u64 bytes[2], packets[2]; /* sent, received */
} carried; /* moved by apps, and not yet subtracted from a carrier */

/* A carrier that compresses or drops packets never moves them all; more than this is forgotten. */
#define CARRIED_MOST (16 << 20)
#define CARRIED_PACKETS_MOST (CARRIED_MOST >> 10)

static __always_inline int kind_in_list(__u32 index)
{
        for (__u32 i = 0; i < INTERFACES_MAX && interfaces[i].index; i++)
                if (interfaces[i].index == index)
                        return interfaces[i].kind;
        return KIND_OTHER;
}

static __always_inline bool is_carrier(__u64 who)
{
        for (__u32 i = 0; i < CARRIERS_MAX && carriers[i]; i++)
                if (carriers[i] == who)
                        return 1;
        return 0;
}

/*
 * How many of a carrier's bytes or packets belong to apps. If two CPUs take them at the same time, one of
 * them gets none.
 */
static __always_inline __u64 take_carried(__u64 *of, __u64 n)
{
        __u64 all = *of, taken = all < n ? all : n;

        return taken && __sync_val_compare_and_swap(of, all, all - taken) == all ? taken : 0;
}

/* How many of these bytes or packets are the process's own. */
static __always_inline __u64 own_part(__u64 who, int kind, __u64 *through, __u64 most, __u64 n)
{
        if (carriers[0] && is_carrier(who))
                return n - take_carried(through, n);
        if (kind & KIND_CARRIED && *through < most)
                __sync_fetch_and_add(through, n);
        return n;
}

/*
 * Finds processes that have the tun device open (Documentation/networking/tuntap.rst) and are in this network
 * namespace.
 */
#define TUN_DEVICE (10 << 20 | 200)

SEC("iter/task_file")
int find_carrier(struct bpf_iter__task_file *ctx)
{
        struct task_struct *task = ctx->task;
        struct file *file = ctx->file;
        __u32 n = n_carriers_found;
        __u64 who;

        if (!task || !file || file->f_inode->i_rdev != TUN_DEVICE || !task->nsproxy ||
            task->nsproxy->net_ns->ns.inum != own_namespace)
                return 0;
        who = who_is(task);
        for (__u32 i = 0; i < CARRIERS_MAX; i++)
                if (i < n && carriers_found[i] == who)
                        return 0;
        if (n < CARRIERS_MAX) {
                carriers_found[n] = who;
                n_carriers_found = n + 1;
        }
        return 0;
}
