/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Network bytes of each process, and bursts: the first bytes after a second of silence. Bytes are counted in
 * one of two ways (process-bpf-net-way.c):
 *
 * - calls: tracepoints at the end of a socket call (Linux 6.3), in the context of the process that sent or
 * read. io_uring threads belong to their process. A peek is not counted; splice() from TCP into a pipe is
 * missed. - packets: cgroup_skb programs at the root control group (5.15), often in a softirq. The socket's
 * owner is stored beside it.
 *
 * Both count payload. Headers are only in the interface's totals, and so unattributed. Calls see no packets;
 * so bursts of packets (net-bursts.bpf.h) also load the programs of the second way, which do nothing without
 * a radio.
 */

#include "net-bursts.bpf.h"

struct net_storage {
        struct net_totals totals;
        __u64 last_wifi_ns;
        struct bursts bursts;
};

/*
 * Identity of a process: its pid and the address of its signal struct, which survives an exec of any thread.
 * Each alone may soon belong to another process: an address as soon as the kernel has freed it, a pid even
 * earlier.
 */
static __always_inline __u64 who_is(struct task_struct *task)
{
        return number_of(read_only(task)->signal) ^ task->tgid * FIBONACCI;
}

static __always_inline __u64 who_runs(void)
{
        return who_is(bpf_get_current_task_btf());
}

/*
 * Each process has an entry in an array, found without a search; if it is in use, an entry in the other map.
 */
struct net_place {
        __u64 who; /* 0: free, and the storage is all zeros */
        struct net_storage storage;
};

#define NET_PLACES_BITS 10

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1 << NET_PLACES_BITS);
        __type(key, __u32);
        __type(value, struct net_place);
} net_places SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, 16384);
        __type(key, __u64);
        __type(value, struct net_storage);
} net_elsewhere SEC(".maps");

static __always_inline struct net_place *net_place_of(__u64 who)
{
        __u32 index = who * FIBONACCI >> (64 - NET_PLACES_BITS);

        return bpf_map_lookup_elem(&net_places, &index);
}

static __always_inline struct net_storage *net_storage_of(__u64 who)
{
        struct net_place *place = net_place_of(who);

        if (place && place->who == who)
                return &place->storage;
        return bpf_map_lookup_elem(&net_elsewhere, &who);
}

static __always_inline struct net_storage *set_owner(struct net_storage *storage)
{
        const struct task_struct *leader = read_only(bpf_get_current_task_btf())->group_leader;

        if (storage && with_bursts) {
                storage->bursts.pid = leader->tgid;
                storage->bursts.start_ns = leader->start_boottime;
        }
        return storage;
}

/*
 * Storage of the running process. It exists while the process lives; bytes that its sockets send later are
 * unattributed.
 */
static __always_inline struct net_storage *make_net_storage(__u64 who)
{
        static const struct net_storage nothing;
        struct net_storage *storage = net_storage_of(who);
        struct net_place *place;
        __u64 whose;

        if (storage)
                return storage;
        place = net_place_of(who);
        if (!place)
                return NULL;
        whose = __sync_val_compare_and_swap(&place->who, 0, who);
        if (whose == 0 || whose == who)
                return set_owner(&place->storage);
        bpf_map_update_elem(&net_elsewhere, &who, &nothing, BPF_NOEXIST);
        return set_owner(net_storage_of(who));
}

static __always_inline void forget_net(__u64 who)
{
        struct net_place *place = net_place_of(who);

        if (place && place->who == who) {
                __builtin_memset(&place->storage, 0, sizeof(place->storage));
                place->who = 0;
        } else {
                bpf_map_delete_elem(&net_elsewhere, &who);
        }
}

static __always_inline struct bursts *bursts_of(__u64 who)
{
        struct net_storage *storage = net_storage_of(who);

        if (!storage)
                return NULL;
        asm volatile("" : "+r"(storage)); /* the verifier allows no arithmetic before the comparison with NULL */
        return &storage->bursts;
}

static __always_inline void tell_bursts_of(__u64 who)
{
        struct bursts *bursts = bursts_of(who);

        if (bursts)
                tell_open(bursts);
}

/*
 * Reports the bursts of one process in the list; 0: there are no more. Not inline, so that the verifier
 * checks it once.
 */
__noinline int tell_next(void)
{
        __u64 who = take_open();
        struct bursts *bursts;

        if (who == 0)
                return 0;
        bursts = who == NOBODY ? &nobodys : bursts_of(who);
        if (!bursts) /* it has ended, and all its bursts were reported */
                return 1;
        /* Cleared first, so that a packet that comes meanwhile lists it again. */
        __sync_lock_test_and_set(&bursts->open, 0);
        tell_open(bursts);
        return 1;
}

/* Called at a poll. Returns BURSTS_A_CALL if there may be more to report, else less. */
SEC("syscall")
int tell_bursts(void *ctx)
{
        int n = 0;

        while (n < BURSTS_A_CALL && tell_next())
                n++;
        return n;
}

#include "net-tunnel.bpf.h"

#define SILENCE_NS 1000000000ULL /* silence before a burst: the radio's tail has ended */
#define COARSE_NS 20000000ULL    /* precision of that silence; saves writes to a shared cache line */

const volatile __u64 tick_ns; /* a jiffy, the resolution of the coarse clock that tracing programs may read */

struct {
        __u64 wifi_wakes; /* bursts of the whole machine, after a second without any bytes */
        __u64 last_wifi_ns;
} net_machine;

struct interface for_test; /* an interface to be taken for another kind, in any namespace */

static __always_inline int kind_of_device(struct net_device *device)
{
        if (device->flags & IFF_LOOPBACK)
                return KIND_LOOPBACK;
        if (bpf_core_field_exists(device->ieee80211_ptr) && device->ieee80211_ptr)
                return KIND_WIFI;
        if (for_test.index && device->ifindex == for_test.index)
                return for_test.kind;
        return interfaces[0].index && device->nd_net.net->ns.inum == own_namespace ? kind_in_list(device->ifindex)
                                                                                    : KIND_OTHER;
}

static __always_inline bool is_loopback_address(struct sock_common *common)
{
        if (common->skc_family == AF_INET)
                return (common->skc_daddr & 0xff) == 127 || (common->skc_rcv_saddr & 0xff) == 127;
        return common->skc_v6_daddr.in6_u.u6_addr32[3] == bpf_htonl(1) &&
               !common->skc_v6_daddr.in6_u.u6_addr32[0] && !common->skc_v6_daddr.in6_u.u6_addr32[1] &&
               !common->skc_v6_daddr.in6_u.u6_addr32[2];
}

/* Kind of an interface of which only the index is known. */
static __always_inline int kind_of_index(__u32 index)
{
        if (index == 1) /* loopback in every network namespace */
                return KIND_LOOPBACK;
        return for_test.index && index == for_test.index ? for_test.kind : kind_in_list(index);
}

/* kind of the default route's interface, for datagrams sent without a connection; set by user space */
__u32 default_kind;

/*
 * A connected socket has a route and so a device. Another one may be bound to an interface. Otherwise its
 * address shows whether it is loopback, and if not, it uses the default route.
 */
static __always_inline int kind_of_socket(struct sock *sk)
{
        struct dst_entry *route = sk->sk_dst_cache;
        int bound;

        if (route) {
                struct net_device *device = route->dev;

                if (device)
                        return kind_of_device(device);
        }
        if (is_loopback_address(&sk->__sk_common))
                return KIND_LOOPBACK;
        bound = sk->__sk_common.skc_bound_dev_if;
        return bound ? kind_of_index(bound) : default_kind;
}

static __always_inline void note_wifi(struct net_storage *storage)
{
        __u64 now_ns = bpf_jiffies64() * tick_ns;

        if (now_ns - storage->last_wifi_ns >= SILENCE_NS)
                __sync_fetch_and_add(&storage->totals.wifi_wakes, 1);
        if (now_ns - storage->last_wifi_ns >= COARSE_NS)
                storage->last_wifi_ns = now_ns;
        if (now_ns - net_machine.last_wifi_ns >= SILENCE_NS)
                __sync_fetch_and_add(&net_machine.wifi_wakes, 1);
        if (now_ns - net_machine.last_wifi_ns >= COARSE_NS)
                net_machine.last_wifi_ns = now_ns;
}

/* Threads (and with packets CPUs) add at the same time. Returns how many bytes are the process's own. */
static __always_inline __u64 add_bytes(struct net_storage *storage, __u64 who, int kind, bool received, __u64 bytes)
{
        __u64 own = own_part(who, kind, &carried.bytes[received], CARRIED_MOST, bytes);

        if ((kind & ~KIND_CARRIED) == KIND_WIFI) {
                if (own == bytes) /* otherwise the burst is an app's */
                        note_wifi(storage);
                if (received)
                        __sync_fetch_and_add(&storage->totals.wifi_rx_bytes, own);
                else
                        __sync_fetch_and_add(&storage->totals.wifi_tx_bytes, own);
        } else if (received) {
                __sync_fetch_and_add(&storage->totals.other_rx_bytes, own);
        } else {
                __sync_fetch_and_add(&storage->totals.other_tx_bytes, own);
        }
        return own;
}

#include "net-packets.bpf.h"

static __always_inline void count_bytes(struct sock *sk, bool received, __u64 bytes)
{
        __u16 family = sk->__sk_common.skc_family;
        struct net_storage *storage;
        __u64 who;
        int kind;

        if (family != AF_INET && family != AF_INET6)
                return;
        kind = kind_of_socket(read_only_socket(sk));
        if (kind == KIND_LOOPBACK)
                return;
        who = who_runs();
        if (with_bursts && has_radio)
                own_socket(sk, who);
        storage = make_net_storage(who);
        if (storage)
                add_bytes(storage, who, kind, received, bytes);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(count_send, struct sock *sk, int ret, int flags)
{
        if (ret > 0)
                count_bytes(sk, 0, ret);
        return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(count_receive, struct sock *sk, int ret, int flags)
{
        if (ret > 0 && !(flags & (MSG_PEEK | MSG_ERRQUEUE)))
                count_bytes(sk, 1, ret);
        return 0;
}

static __always_inline void read_net(struct task_struct *leader, struct net_totals *totals)
{
        struct net_storage *storage = net_storage_of(who_is(leader));

        if (storage)
                *totals = storage->totals;
        else
                __builtin_memset(totals, 0, sizeof(*totals));
}
