/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * The few kernel fields that we read, instead of a generated vmlinux.h, so that a build machine needs neither
 * BTF nor a certain kernel. libbpf adapts each access to the layout of the running kernel (CO-RE).
 */

typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum bpf_map_type {
        BPF_MAP_TYPE_HASH = 1,
        BPF_MAP_TYPE_ARRAY = 2,
        BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
        BPF_MAP_TYPE_PERCPU_ARRAY = 6,
        BPF_MAP_TYPE_SK_STORAGE = 24,
        BPF_MAP_TYPE_RINGBUF = 27,
        BPF_MAP_TYPE_TASK_STORAGE = 29,
};

/* Steps of CPU hotplug; libbpf replaces them by the running kernel's numbers. */
enum cpuhp_state {
        CPUHP_TEARDOWN_CPU,
};

#define BPF_F_CURRENT_CPU 0xffffffffULL

struct bpf_perf_event_value {
        __u64 counter, enabled, running;
};

enum {
        BPF_F_NO_PREALLOC = 1U << 0,
        BPF_F_CLONE = 1U << 9,
        BPF_F_MMAPABLE = 1U << 10,
        BPF_LOCAL_STORAGE_GET_F_CREATE = 1U << 0,
        BPF_SK_STORAGE_GET_F_CREATE = 1U << 0,
        BPF_NOEXIST = 1,
        BPF_RB_NO_WAKEUP = 1U << 0,
        BPF_RB_AVAIL_DATA = 0,
};

/* Flags of bpf_iter_task_new(). */
#define TASK_ITER_ALL_PROCS 0
#define TASK_ITER_PROC_THREADS 2

#define AF_INET 2
#define AF_INET6 10
#define MSG_PEEK 2
#define MSG_ERRQUEUE 0x2000 /* a socket gets its own datagrams back, with timestamps or errors */
#define BPF_TCP_LISTEN 10
#define ETH_P_ARP 0x0806
#define PACKET_HOST 0 /* include/uapi/linux/if_packet.h */
#define PACKET_BROADCAST 1
#define PACKET_MULTICAST 2
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IFF_LOOPBACK (1 << 3)
#define PF_IDLE 0x00000002 /* an idle task, or one that injects idle time, while it does so */
#define PF_KTHREAD 0x00200000
#define SIGCHLD 17
#define SIG_IGN 1
#define SA_NOCLDWAIT 2

struct bpf_spin_lock {
        __u32 val;
};

struct bpf_iter_task {
        __u64 opaque[3];
} __attribute__((aligned(8)));

struct bpf_iter_num {
        __u64 opaque[1];
} __attribute__((aligned(8)));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
        __u64 sum_exec_runtime;
};

struct task_io_accounting {
        __u64 read_bytes;
        __u64 write_bytes;
        __u64 cancelled_write_bytes;
};

struct signal_struct {
        int nr_threads;
        unsigned long long sum_sched_runtime;
        struct task_io_accounting ioac;
};

typedef struct {
        unsigned int val;
} kuid_t;

struct sigaction {
        void *sa_handler;
        unsigned long sa_flags;
};

struct k_sigaction {
        struct sigaction sa;
};

struct sighand_struct {
        struct k_sigaction action[64];
};

struct user_namespace {
        struct user_namespace *parent;
        kuid_t owner;
};

struct cred {
        kuid_t uid;
        struct user_namespace *user_ns;
};

struct thread_info {
        __u32 cpu;
};

struct list_head {
        struct list_head *next;
};

struct kernfs_node {
        struct kernfs_node *parent;
        const char *name;
        __u64 id;
};

struct cgroup {
        struct kernfs_node *kn;
};

struct css_set {
        struct cgroup *dfl_cgrp;
};

struct ns_common {
        unsigned int inum;
};

struct net {
        struct ns_common ns;
};

struct nsproxy {
        struct net *net_ns;
};

struct qstr {
        const unsigned char *name;
};

struct dentry {
        struct qstr d_name;
};

struct path {
        struct dentry *dentry;
};

struct inode {
        unsigned int i_rdev;
};

struct file {
        struct inode *f_inode;
        struct path f_path;
};

struct mm_struct {
        struct file *exe_file;
};

struct task_struct {
        struct thread_info thread_info;
        struct list_head tasks;
        unsigned int flags;
        int on_cpu;
        struct sched_entity se;
        int pid;
        int tgid;
        struct task_struct *real_parent;
        struct task_struct *group_leader;
        __u64 start_boottime;
        const struct cred *cred;
        char comm[16];
        struct signal_struct *signal;
        struct sighand_struct *sighand;
        struct nsproxy *nsproxy;
        struct css_set *cgroups;
        struct mm_struct *mm;
        struct task_io_accounting ioac;
};

struct kernfs_node___rcu { /* since 6.15 */
        struct kernfs_node *__parent;
};

struct task_struct___cpu { /* until 5.16 */
        unsigned int cpu;
};

struct seq_file {
        int unused;
};

struct bpf_iter_meta {
        struct seq_file *seq;
        __u64 session_id;
        __u64 seq_num;
};

struct bpf_iter__task {
        struct bpf_iter_meta *meta;
        struct task_struct *task;
};

struct bpf_iter__task_file {
        struct bpf_iter_meta *meta;
        struct task_struct *task;
        __u32 fd;
        struct file *file;
};

struct wireless_dev;

typedef struct {
        struct net *net;
} possible_net_t;

struct net_device {
        unsigned int flags;
        int ifindex;
        struct wireless_dev *ieee80211_ptr;
        possible_net_t nd_net;
};

struct dst_entry {
        struct net_device *dev;
};

struct sk_buff {
        struct net_device *dev;
        unsigned int len;
        __u8 pkt_type : 3;
        __be16 protocol;
};

struct in6_addr {
        union {
                __be32 u6_addr32[4];
        } in6_u;
};

typedef struct {
        __s64 counter;
} atomic64_t;

struct sock_common {
        __be32 skc_daddr;
        __be32 skc_rcv_saddr;
        unsigned short skc_family;
        int skc_bound_dev_if;
        struct in6_addr skc_v6_daddr;
        struct in6_addr skc_v6_rcv_saddr;
        atomic64_t skc_cookie;
};

struct sock {
        struct sock_common __sk_common;
        struct dst_entry *sk_dst_cache;
        int sk_rx_dst_ifindex;
};

struct socket {
        struct sock *sk;
};

#pragma clang attribute pop

/* Contexts of socket and packet programs: the stable ABI of linux/bpf.h. */
struct bpf_sock {
        __u32 unused_to_state[18];
        __u32 state;
};

struct __sk_buff {
        __u32 len;
        __u32 pkt_type;
        __u32 unused_to_ifindex[8];
        __u32 ifindex;
        __u32 unused_to_data[8];
        __u32 data;
        __u32 data_end;
        __u32 unused_to_gso_segs[20];
        __u32 gso_segs;
        union {
                struct bpf_sock *sk;
                __u64 room;
        } __attribute__((aligned(8)));
};
