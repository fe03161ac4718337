/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/* What the BPF programs and process-bpf.c exchange. */

#ifndef __bpf__
#include <linux/types.h>
#endif

#define BPF_OPPS_MAX 64     /* operating points of all policies together; phones have up to about 60 */
#define BPF_OPPS_FEW 16
#define BPF_CPUS_MAX 256
#define BPF_POLICIES_MAX 16

/* Totals of one process, with its exited threads; io with its reaped children. */
struct process_totals {
        __u64 cpu_ns;
        __u64 read_bytes;
        __u64 write_bytes;
        __u64 cancelled_write_bytes;
};

/* Interfaces are WiFi or not; loopback costs no radio energy and is left out. */
struct net_totals {
        __u64 wifi_rx_bytes;
        __u64 wifi_tx_bytes;
        __u64 wifi_wakes;
        __u64 other_rx_bytes;
        __u64 other_tx_bytes;
        __u64 wifi_rx_packets; /* on the wire; counted by packets alone */
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

#define KIND_CARRIED (1 << 8) /* with a kind: of a tunnel whose packets a process sends again as its own */

#define INTERFACES_MAX 16
#define CARRIERS_MAX 8

/* And the kind of hardware by which its packets leave the machine. */
struct interface {
        __u32 index; /* 0: no more of them */
        __u32 kind;
};

enum process_record_kind {
        RECORD_ALIVE,
        RECORD_EXIT, /* final totals */
        RECORD_EXEC, /* totals up to an exec of a process that an earlier walk saw */
        RECORD_THREAD, /* of an iterator file: one more thread of the process `pid` */
        RECORD_CGROUP, /* a struct cgroup_record */
        RECORD_BURST, /* a struct burst_record */
};

struct process_record {
        __u32 pid;             /* of the process (tgid) */
        __u32 kind;
        __u64 start_ns;        /* boottime */
        __u32 uid;             /* real: who started it */
        __u32 parent_pid;
        __u32 kernel_thread;
        __u64 parent_start_ns; /* EXIT: start of the parent, if that waits for it and gets its io added; else 0 */
        __u64 event_ns;        /* EXIT and EXEC: boottime of the record */
        __u64 cgroup_id;       /* EXIT: of the control group (v2) it was in, 0 unknown */
        char comm[16];
        struct process_totals totals;
        struct net_totals net;
};

/* Of the ring, in bytes. */
#define EXITS_SIZE (512 * 1024)  /* about 3,000 processes between two polls */
#define BURSTS_SIZE (512 * 1024) /* 7,281 bursts */

#define BURST_GAP_NS 50000000 /* as lib/radio/radio-ladder.h */
#define BURST_LARGE_BYTES 256
#define BURSTS_OPEN_MAX 4096 /* processes with packets between two polls */
#define BURSTS_A_CALL 64     /* of these, handed over by one call */

enum burst_radio {
        BURST_WIFI,
        BURST_CELLULAR,
        BURST_RADIOS
};

struct burst_record {
        __u32 pid; /* 0: of no process */
        __u32 kind; /* as in a process_record */
        __u64 start_ns; /* of the process: boottime, as all */
        __u64 first_ns;
        __u64 last_ns;
        __u64 bytes[2]; /* sent, received: as in net_totals, but of no process with headers */
        __u32 packets[2];
        __u32 large; /* of them, with headers */
        __u32 radio;
};

#define PROGRAM_NAME_MAX 60 /* longer ones are cut */

/* The executable file of a process, without its folder: /proc/PID/exe is for its user and CAP_SYS_PTRACE only. */
struct program_record {
        __u32 pid;
        char name[PROGRAM_NAME_MAX];
};

#define CGROUP_NAMES 512      /* of a path's names together; a power of two. A longer path is not known. */
#define CGROUP_NAME_MAX 256   /* with its NUL */
#define CGROUP_DEPTH_MAX 24

/* A control group, before the first process in it that ends, since it may be gone when user space reads. */
struct cgroup_record {
        __u32 length; /* of the names; 0: too long a path */
        __u32 kind;   /* as in a process_record */
        __u64 id;
        char names[CGROUP_NAMES + CGROUP_NAME_MAX]; /* from the innermost out, each with its NUL */
};

/* What a user's processes leave in the ring, and the sums of those that ended and had no room there. */
struct user_ends {
        __u64 poll; /* in which it last had a record */
        __u64 used_bytes; /* of the ring, since then */
        __u64 n; /* this and the sums are never cleared; CPU time by operating point follows */
        struct process_totals totals;
        struct net_totals net;
};

#define CGROUPS_TOLD 1024 /* of groups that were reported */

/*
 * A process in the order of the kernel's list, with what a walk needs to see that it did nothing. A record has a
 * place of its own for as long as its process lives.
 */
struct walked {
        __u64 task;   /* its address, which is unique while it lives */
        __u64 cpu_ns; /* of all its threads; of ended ones only if it has several */
        __u64 place;
};

/* In the ring buffer, CPU time by operating point follows the record: n_opps __u64. */

/* CPU time of a thread; that by operating point follows: BPF_OPPS_FEW or BPF_OPPS_MAX __u64. */
struct thread_opps {
        __u64 task;        /* by number_of(); 0: the place is free and all zeros */
        __u64 seen_ns;     /* runtime that was attributed to operating points */
        __u32 exiting;     /* its thread has ended: what it still runs goes to its process */
        __u32 had_threads; /* of a leader: threads have ended and left their times in `exited_opps` */
        __u64 own_ns[];
};

/* One CPU policy since the programs were loaded; by global index of operating point. */
struct policy_times {
        __u64 busy_ns[BPF_OPPS_MAX]; /* core-seconds; while cores are busy, less by the time at which that began */
        __u64 any_ns[BPF_OPPS_MAX];  /* at least one core */
};

struct policy_state {
        __u64 word; /* operating point and number of busy cores */
        __u64 lost; /* changes that could not be made: never seen */
        struct policy_times times;
} __attribute__((aligned(64)));

#define WORD_MAKE(opp, busy) ((__u64)(opp) << 32 | (__u32)(busy))
#define WORD_OPP(word) ((__u32)((word) >> 32))
#define WORD_BUSY(word) ((__u32)(word))

#define BPF_PARTS_MAX 4 /* changes of frequency while one task runs, until its next switch */

struct cpu_state {
        __u32 opp;
        __u32 busy;
        __u32 n_parts;
        __u32 above;           /* by cycles: so much of 1024 belongs to the operating point after `opp` */
        __u64 cycles;          /* of this CPU when they were last read; 0: not yet */
        __u64 unread_ns;       /* that tasks ran since then */
        __u64 some_ns;         /* that tasks ran since a frequency was last found from cycles, ... */
        __u64 some_cycles;     /* ... and their cycles */
        struct {
                __u64 until_ns; /* monotonic */
                __u32 opp;      /* in force until then */
                __u32 unused;
        } parts[BPF_PARTS_MAX];
} __attribute__((aligned(64)));

struct opp_range {
        __u32 first;
        __u32 n;
};

struct fed_frequency {
        __u32 khz;
        __u32 cpu;
};
