/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/* Data that the BPF programs and process-bpf.c exchange. */

#ifndef __bpf__
#include <linux/types.h>
#endif

#define BPF_OPPS_MAX 64     /* operating points of all policies together; phones have up to about 60 */
#define BPF_OPPS_FEW 16
#define BPF_CPUS_MAX 256
#define BPF_POLICIES_MAX 16

/* Counters of a CPU, as enum counted_event. */
#define BPF_COUNTERS 3
#define BPF_COUNTER_CYCLES 0

#define COUNTED_MAX 4096 /* at most so many pairs of process and policy between two polls */

/* The process and policy of counted events; start_ns in boottime. */
struct counted_key {
        __u64 start_ns;
        __u32 pid;
        __u32 policy; /* by its index */
};

struct counted_sums {
        __u64 amount[BPF_COUNTERS];
};

/* Totals of one process with its exited threads; io also with its reaped children. */
struct process_totals {
        __u64 cpu_ns;
        __u64 read_bytes;
        __u64 write_bytes;
        __u64 cancelled_write_bytes;
};

/* Interfaces are WiFi or not. Loopback uses no radio energy and is left out. */
struct net_totals {
        __u64 wifi_rx_bytes;
        __u64 wifi_tx_bytes;
        __u64 wifi_wakes;
        __u64 other_rx_bytes;
        __u64 other_tx_bytes;
        __u64 wifi_rx_packets; /* on the wire; only counted by packets */
        __u64 wifi_tx_packets;
        __u64 other_rx_packets;
        __u64 other_tx_packets;
};

enum interface_kind {
        KIND_LOOPBACK,
        KIND_WIFI,
        KIND_CELLULAR,
        KIND_OTHER,
};

#define KIND_CARRIED (1 << 8) /* flag of a kind: a tunnel whose packets a process sends again as its own */

#define INTERFACES_MAX 16
#define CARRIERS_MAX 8

/* An interface, and the kind of hardware through which its packets leave the machine. */
struct interface {
        __u32 index; /* 0 ends the list */
        __u32 kind;
};

enum process_record_kind {
        RECORD_ALIVE,
        RECORD_EXIT, /* final totals */
        RECORD_EXEC, /* totals up to an exec, for a process that an earlier walk saw */
        RECORD_THREAD, /* only from an iterator file: another thread of the process `pid` */
        RECORD_CGROUP, /* a struct cgroup_record */
        RECORD_BURST, /* a struct burst_record */
};

struct process_record {
        __u32 pid;             /* the process (tgid) */
        __u32 kind;
        __u64 start_ns;        /* boottime */
        __u32 uid;             /* real uid, of the user who started it */
        __u32 parent_pid;
        __u32 kernel_thread;
        __u32 unused; /* the layout is the same on 32-bit machines, which align 64 bits to 4 bytes */
        /* EXIT: start of the parent, if it waits for the process and so gets its io added; else 0 */
        __u64 parent_start_ns;
        __u64 event_ns;        /* EXIT and EXEC: boottime of the event */
        __u64 cgroup_id;       /* EXIT: its control group (v2); 0: unknown */
        char comm[16];
        struct process_totals totals;
        struct net_totals net;
};

/* Parts of the ring, in bytes. */
#define EXITS_SIZE (512 * 1024)  /* for about 3,000 ends of processes between two polls */
#define BURSTS_SIZE (512 * 1024) /* for 7,281 bursts */

#define BURST_GAP_NS 50000000 /* as in lib/radio/radio-ladder.h */
#define BURST_LARGE_BYTES 256
#define BURSTS_OPEN_MAX 4096 /* processes with packets between two polls */
#define BURSTS_A_CALL 64     /* processes handed over by one call */

enum burst_radio {
        BURST_WIFI,
        BURST_CELLULAR,
        BURST_RADIOS
};

struct burst_record {
        __u32 pid; /* 0: no process */
        __u32 kind; /* as in a process_record */
        __u64 start_ns; /* start of the process; boottime, like all times here */
        __u64 first_ns;
        __u64 last_ns;
        __u64 bytes[2]; /* sent, received: as in net_totals, but with headers if pid is 0 */
        __u32 packets[2];
        __u32 large; /* number of large packets, by their size with headers */
        __u32 radio;
};

#define PROGRAM_NAME_MAX 60 /* a longer name is cut */

/*
 * Name of a process's executable file, without its folder; /proc/PID/exe is readable only for its user and
 * with CAP_SYS_PTRACE.
 */
struct program_record {
        __u32 pid;
        char name[PROGRAM_NAME_MAX];
};

#define CGROUP_NAMES 512      /* room for all names of a path, a power of two; a longer path is unknown */
#define CGROUP_NAME_MAX 256   /* including its NUL */
#define CGROUP_DEPTH_MAX 24

/*
 * A control group, written before its first process that ends, since the group may be gone when user space
 * reads.
 */
struct cgroup_record {
        __u32 length; /* total length of the names; 0: the path is too long */
        __u32 kind;   /* as in a process_record */
        __u64 id;
        char names[CGROUP_NAMES + CGROUP_NAME_MAX]; /* from the innermost group outwards, each with its NUL */
};

/* Use of the ring by one user's processes, and the sums of those that ended and had no room in it. */
struct user_ends {
        __u64 poll; /* poll in which the user last had a record */
        __u64 used_bytes; /* bytes of the ring used since then */
        __u64 n; /* n and the sums are never cleared; CPU time by operating point follows */
        struct process_totals totals;
        struct net_totals net;
};

#define CGROUPS_TOLD 1024 /* number of reported groups that are remembered */

/*
 * A process in the order of the kernel's list, with the data that shows whether it did anything since. Its
 * record keeps its index as long as the process lives.
 */
struct walked {
        __u64 task;   /* address of the task, which is unique while it lives */
        __u64 cpu_ns; /* sum over its threads; includes ended threads only if it has several */
        __u64 place;
};

/* In the ring, CPU time by operating point follows the record: n_opps __u64. */

/* CPU time of a thread. Its times by operating point follow: BPF_OPPS_FEW or BPF_OPPS_MAX __u64. */
struct thread_opps {
        __u64 task;        /* by number_of(); 0: the entry is free and all zeros */
        __u64 seen_ns;     /* runtime attributed to operating points so far */
        __u32 exiting;     /* the thread has ended; further runtime goes to its process */
        __u32 had_threads; /* only of a leader: threads have ended and added their times to `exited_opps` */
        __u64 own_ns[];
};

/* One CPU policy since the programs were loaded, by global index of operating point. */
struct policy_times {
        /* core-seconds; while cores are busy, smaller by the times at which they began */
        __u64 busy_ns[BPF_OPPS_MAX];
        __u64 any_ns[BPF_OPPS_MAX];  /* time with at least one busy core */
};

struct policy_state {
        __u64 word; /* operating point and number of busy cores */
        __u64 lost; /* changes that failed; none was ever seen */
        struct policy_times times;
} __attribute__((aligned(64)));

#define WORD_MAKE(opp, busy) ((__u64)(opp) << 32 | (__u32)(busy))
#define WORD_OPP(word) ((__u32)((word) >> 32))
#define WORD_BUSY(word) ((__u32)(word))

#define BPF_PARTS_MAX 4 /* changes of frequency during one run of a task */

struct cpu_state {
        __u32 opp;
        __u32 busy;
        __u32 n_parts;
        __u32 above; /* by cycles: the part (of 1024) that belongs to the operating point after `opp` */
        __u64 cycles;          /* the CPU's counter at the last reading; 0: not yet read */
        __u64 unread_ns;       /* runtime of tasks since then */
        __u64 some_ns;         /* runtime since a frequency was last computed from cycles */
        __u64 some_cycles;     /* cycles in that time */
        __u64 unsampled_ns;    /* runtime that no stretch has been taken for yet */
        __u32 sampled_pid;     /* thread that runs in such a stretch; 0: none */
        __u32 n_counters;      /* counters of this CPU, in the order of enum counted_event: 0, 2 or 3 */
        struct {
                __u64 until_ns; /* monotonic */
                __u32 opp;      /* operating point until then */
                __u32 unused;
        } parts[BPF_PARTS_MAX];
        __u64 counted[BPF_COUNTERS]; /* at the begin of that stretch */
} __attribute__((aligned(64)));

struct opp_range {
        __u32 first;
        __u32 n;
};

struct fed_frequency {
        __u32 khz;
        __u32 cpu;
};
