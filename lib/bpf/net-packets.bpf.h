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
        __u64 leader; /* the address of its process's */
        __u64 who;
};

struct {
        __uint(type, BPF_MAP_TYPE_SK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
        __type(key, int);
        __type(value, struct socket_owner);
} owners SEC(".maps");

/*
 * A process is its pid and the address of its leader. One alone is soon another's: an address as soon as the
 * kernel has freed it, a pid before that, and who is freed then must not take the next one's bytes along.
 */
static __always_inline __u64 who_is(__u32 pid, __u64 leader)
{
        return leader ^ pid * FIBONACCI;
}

/*
 * Made while their process lives and runs, gone with it: what its sockets still send then is nobody's. Each
 * process has a place, which needs no search; who finds it taken is in the other map.
 */
struct net_place {
        __u64 who; /* 0: free, and the storage all zeros */
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

static __always_inline void make_net_storage(__u64 who)
{
        static const struct net_storage nothing;
        struct net_place *place = net_place_of(who);

        if (!place || place->who == who || bpf_map_lookup_elem(&net_elsewhere, &who) ||
            __sync_val_compare_and_swap(&place->who, 0, who) == 0)
                return;
        bpf_map_update_elem(&net_elsewhere, &who, &nothing, BPF_NOEXIST);
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

static __always_inline void own(struct socket_owner *owner, __u64 leader)
{
        owner->leader = leader;
        owner->who = who_is(bpf_get_current_pid_tgid() >> 32, leader);
        make_net_storage(owner->who);
}

SEC("cgroup/sock_create")
int own_new_socket(struct bpf_sock *sk)
{
        struct socket_owner *owner = bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
        struct task_struct *task = (struct task_struct *)bpf_get_current_task();

        if (owner)
                own(owner, (__u64)BPF_CORE_READ(task, group_leader));
        return 1;
}

/* Where a process takes bytes out of a TCP socket. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(own_read_socket, struct sock *sk)
{
        struct socket_owner *owner = bpf_sk_storage_get(&owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
        struct task_struct *leader = bpf_get_current_task_btf()->group_leader;

        if (owner && owner->leader != (__u64)leader)
                own(owner, address_of(leader));
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
        storage = net_storage_of(owner->who);
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
