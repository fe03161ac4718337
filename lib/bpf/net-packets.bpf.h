/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Bytes by packets, for kernels that have no hook at a socket call. A packet
 * passes in whatever context, so its socket must know whose it is: who made it, and from its first read
 * on who reads it. A socket that is accepted has its listener's owner until then. What is sent again
 * counts again, and what arrives counts then, whether it is read or not. Unknown, and nobody's: UDP
 * sockets that are older than we are.
 */

const volatile bool by_packets;

struct socket_owner {
        __u32 pid;
};

struct {
        __uint(type, BPF_MAP_TYPE_SK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
        __type(key, int);
        __type(value, struct socket_owner);
} owners SEC(".maps");

/*
 * Made while their process lives and runs, gone with it: what its sockets still send then is nobody's. Each
 * pid has a place, which needs no search; who finds it taken, by a pid so many apart, is in the other map.
 */
struct net_place {
        __u64 pid; /* 0: free, and the storage all zeros */
        struct net_storage storage;
};

#define NET_PLACES 1024

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, NET_PLACES);
        __type(key, __u32);
        __type(value, struct net_place);
} net_places SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, 16384);
        __type(key, __u32);
        __type(value, struct net_storage);
} net_of_pid SEC(".maps");

static __always_inline struct net_place *place_of_pid(__u32 pid)
{
        __u32 index = pid % NET_PLACES;

        return bpf_map_lookup_elem(&net_places, &index);
}

static __always_inline struct net_storage *storage_of_pid(__u32 pid)
{
        struct net_place *place = place_of_pid(pid);

        if (place && place->pid == pid)
                return &place->storage;
        return bpf_map_lookup_elem(&net_of_pid, &pid);
}

static __always_inline void make_storage(__u32 pid)
{
        static const struct net_storage nothing;
        struct net_place *place = place_of_pid(pid);

        if (!place || place->pid == pid || bpf_map_lookup_elem(&net_of_pid, &pid) ||
            __sync_val_compare_and_swap(&place->pid, 0, pid) == 0)
                return;
        bpf_map_update_elem(&net_of_pid, &pid, &nothing, BPF_NOEXIST);
}

static __always_inline void forget_net(__u32 pid)
{
        struct net_place *place = place_of_pid(pid);

        if (place && place->pid == pid) {
                __builtin_memset(&place->storage, 0, sizeof(place->storage));
                place->pid = 0;
        } else {
                bpf_map_delete_elem(&net_of_pid, &pid);
        }
}

static __always_inline void own(struct socket_owner *owner)
{
        __u32 pid = bpf_get_current_pid_tgid() >> 32;

        if (!owner || owner->pid == pid)
                return;
        owner->pid = pid;
        make_storage(pid);
}

SEC("cgroup/sock_create")
int own_new_socket(struct bpf_sock *sk)
{
        own(bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE));
        return 1;
}

/* Where a process takes bytes out of a TCP socket. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(own_read_socket, struct sock *sk)
{
        own(bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE));
        return 0;
}

/* Headers nearly always lie in the packet's first piece, which needs no call. */
static __always_inline __u8 byte_at(struct __sk_buff *packet, __u32 offset)
{
        const __u8 *at = (const __u8 *)(long)packet->data + offset;
        __u8 byte = 0;

        if (at + 1 <= (const __u8 *)(long)packet->data_end)
                return *at;
        bpf_skb_load_bytes(packet, offset, &byte, 1);
        return byte;
}

/* What stands behind the headers; IPv6's extensions count as payload. */
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

static __always_inline void count_packet(struct __sk_buff *packet, bool received)
{
        struct bpf_sock *sk = packet->sk;
        struct net_storage *storage;
        struct socket_owner *owner;
        __u32 payload;
        int kind = kind_of_index(packet->ifindex);

        if (!sk || kind == KIND_LOOPBACK)
                return;
        owner = bpf_sk_storage_get(&owners, sk, 0, 0);
        payload = payload_of(packet);
        if (!owner || payload == 0)
                return;
        storage = storage_of_pid(owner->pid);
        if (storage)
                add_bytes(storage, kind, received ? payload : 0, payload);
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
