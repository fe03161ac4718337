/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Counts network bytes by packets, for kernels without tracepoints at socket calls; and bursts of packets.
 *
 * A packet is handled in any context, so the owner of each socket is stored: the process that created it, and
 * from its first read on the process that reads it; where there are tracepoints, the process that used it
 * last. An accepted socket has its listener's owner until then. Retransmitted bytes count again, and received
 * bytes count on arrival, read or not. UDP sockets older than the service are unattributed (with tracepoints,
 * until their next use).
 *
 * A socket is identified by its cookie, which is unique. Most sockets have an entry in an array of sets, one
 * cache line each. A closed socket keeps its entry, for packets that it still sends, until another socket
 * needs it. A socket whose set is full has its owner in socket storage. So has a listener, since the kernel
 * copies socket storage to accepted sockets.
 */
#define SOCKET_SETS_BITS 10
#define SOCKETS_IN_SET 4

struct socket_set {
        struct socket_place {
                __u64 key; /* 0: free; else the cookie and a flag for closed */
                __u64 who;
        } places[SOCKETS_IN_SET];
};

#define KEY_OF(cookie) ((cookie) << 1)
#define CLOSED 1
#define BEING_TAKEN (-2ULL) /* a key that no socket has */

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1 << SOCKET_SETS_BITS);
        __type(key, __u32);
        __type(value, struct socket_set);
} sockets SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_SK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
        __type(key, int);
        __type(value, __u64);
} owners SEC(".maps");

static __always_inline struct socket_set *set_of_socket(__u64 cookie)
{
        __u32 index = cookie * FIBONACCI >> (64 - SOCKET_SETS_BITS);

        return bpf_map_lookup_elem(&sockets, &index);
}

static __always_inline struct socket_place *place_of_socket(__u64 cookie)
{
        struct socket_set *set = set_of_socket(cookie);

        for (int i = 0; set && i < SOCKETS_IN_SET; i++)
                if ((set->places[i].key & ~(__u64)CLOSED) == KEY_OF(cookie))
                        return &set->places[i];
        return NULL;
}

static __always_inline bool take_socket_place(__u64 cookie, __u64 who)
{
        struct socket_set *set = set_of_socket(cookie);

        for (int i = 0; set && i < SOCKETS_IN_SET; i++) {
                volatile struct socket_place *place = &set->places[i];
                __u64 key = place->key;

                if ((key == 0 || key & CLOSED) &&
                    __sync_val_compare_and_swap(&place->key, key, BEING_TAKEN) == key) {
                        place->who = who;
                        place->key = KEY_OF(cookie);
                        return 1;
                }
        }
        return 0;
}

SEC("cgroup/sock_create")
int own_new_socket(struct bpf_sock *sk)
{
        __u64 who = who_runs();

        make_net_storage(who);
        if (!take_socket_place(bpf_get_socket_cookie(sk), who))
                bpf_sk_storage_get(&owners, sk, &who, BPF_SK_STORAGE_GET_F_CREATE);
        return 1;
}

SEC("cgroup/sock_release")
int leave_socket(struct bpf_sock *sk)
{
        __u64 cookie = bpf_get_socket_cookie(sk);
        struct socket_set *set = set_of_socket(cookie);

        /* Two entries are possible if two threads of different processes read first. */
        for (int i = 0; set && i < SOCKETS_IN_SET; i++)
                if (set->places[i].key == KEY_OF(cookie))
                        set->places[i].key |= CLOSED;
        return 1;
}

/* Makes a process the owner of a socket. */
static __always_inline void own_socket(struct sock *sk, __u64 who)
{
        __u64 cookie = sk->__sk_common.skc_cookie.counter, *owner;
        struct socket_place *place;

        if (cookie == 0) /* the socket is older than the service */
                cookie = bpf_get_socket_cookie(sk);
        place = place_of_socket(cookie);
        if (place && place->who == who)
                return;
        make_net_storage(who);
        if (place) {
                place->who = who;
        } else if (!take_socket_place(cookie, who)) {
                owner = bpf_sk_storage_get(&owners, sk, &who, BPF_SK_STORAGE_GET_F_CREATE);
                if (owner)
                        *owner = who;
        }
}

/* Called when a process takes bytes out of a TCP socket. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(own_read_socket, struct sock *sk)
{
        own_socket(sk, who_runs());
        return 0;
}

/* Headers are nearly always in the packet's first fragment, which can be read without a helper. */
static __always_inline __u8 byte_at(struct __sk_buff *packet, __u32 offset)
{
        const __u8 *at = (const __u8 *)(long)packet->data + offset;
        __u8 byte = 0;

        if (at + 1 <= (const __u8 *)(long)packet->data_end)
                return *at;
        bpf_skb_load_bytes(packet, offset, &byte, 1);
        return byte;
}

/* Length of the payload; IPv6 extension headers count as payload. */
static __always_inline __u32 payload_of(struct __sk_buff *packet)
{
        __u8 first = byte_at(packet, 0);
        bool old = first >> 4 == 4;
        __u32 headers = old ? (first & 15) * 4 : 40;
        __u8 protocol = byte_at(packet, old ? 9 : 6);

        if (protocol == IPPROTO_TCP)
                headers += (byte_at(packet, headers + 12) >> 4) * 4;
        else if (protocol == IPPROTO_UDP)
                headers += 8;
        return packet->len > headers ? packet->len - headers : 0;
}

static __always_inline void add_packets(struct net_storage *storage, int kind, bool received, __u64 n)
{
        struct net_totals *totals = &storage->totals;

        if (kind == KIND_WIFI)
                __sync_fetch_and_add(received ? &totals->wifi_rx_packets : &totals->wifi_tx_packets, n);
        else
                __sync_fetch_and_add(received ? &totals->other_rx_packets : &totals->other_tx_packets, n);
}

static __always_inline bool is_radio(int kind)
{
        return kind == KIND_WIFI || kind == KIND_CELLULAR;
}

/* Owner of the packet's socket; 0: unknown. */
static __always_inline __u64 owner_of(struct __sk_buff *packet, bool received)
{
        struct bpf_sock *sk = packet->sk;
        struct socket_place *place;
        __u64 *owner;

        if (!sk)
                return 0;
        place = place_of_socket(bpf_get_socket_cookie(packet));
        owner = place ? &place->who : bpf_sk_storage_get(&owners, sk, 0, 0);
        /* before the first connection is accepted */
        if (owner && place && received && sk->state == BPF_TCP_LISTEN)
                bpf_sk_storage_get(&owners, sk, owner, BPF_SK_STORAGE_GET_F_CREATE);
        return owner ? *owner : 0;
}

/*
 * Counts a packet of a socket. Received broadcasts and multicasts are counted on arrival (count_group()),
 * once for all sockets that get them.
 */
static __always_inline void count_packet(struct __sk_buff *packet, bool received)
{
        struct seen_packets seen = { .received = received, .n = packet->gso_segs, .length = packet->len };
        struct net_storage *storage;
        int kind, hardware;
        __u64 who, own;

        if (by_calls && !has_radio)
                return;
        kind = kind_of_index(packet->ifindex);
        hardware = kind & ~KIND_CARRIED;
        if (kind == KIND_LOOPBACK || (received && packet->pkt_type != PACKET_HOST))
                return;
        /* nonzero: the device sends it in so many segments, or the kernel merged so many received packets */
        if (seen.n == 0)
                seen.n = 1;
        seen.bytes = payload_of(packet);
        who = owner_of(packet, received);
        storage = who ? net_storage_of(who) : NULL;
        if (!storage) {
                seen.bytes = seen.length;
                if (with_bursts && is_radio(kind)) /* packets through a tunnel are the carrier's */
                        count_burst(&nobodys, NOBODY, kind, &seen);
                return;
        }
        if (!by_calls && seen.bytes)
                seen.bytes = add_bytes(storage, who, kind, received, seen.bytes);
        own = own_part(who, kind, &carried.packets[received], CARRIED_PACKETS_MOST, seen.n);
        if (own == 0)
                return;
        if (by_calls && own < seen.n)
                seen.bytes = seen.bytes * own / seen.n;
        seen.n = own;
        add_packets(storage, hardware, received, seen.n);
        if (with_bursts && is_radio(hardware))
                count_burst(&storage->bursts, who, hardware, &seen);
}

/*
 * Counts received broadcasts and multicasts as nobody's, since the radio receives them in any case; likewise
 * address requests (ARP).
 */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(count_group, struct sk_buff *packet)
{
        struct seen_packets seen = { .received = 1, .n = 1 };
        __u8 type = BPF_CORE_READ_BITFIELD(packet, pkt_type);
        int kind;

        if (!has_radio)
                return 0;
        if (type != PACKET_BROADCAST && type != PACKET_MULTICAST && packet->protocol != bpf_htons(ETH_P_ARP))
                return 0;
        kind = kind_of_device(packet->dev);
        seen.length = seen.bytes = packet->len;
        if (is_radio(kind))
                count_burst(&nobodys, NOBODY, kind, &seen);
        return 0;
}

SEC("cgroup_skb/egress")
int packet_sent(struct __sk_buff *packet)
{
        count_packet(packet, 0);
        return 1;
}

SEC("cgroup_skb/ingress")
int packet_received(struct __sk_buff *packet)
{
        count_packet(packet, 1);
        return 1;
}
