/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of the BPF collector only. libbpf's types are not used elsewhere. */

#include <time.h>

#include "bpf-opps.h"
#include "bpf/process-records.h"
#include "collector.h"
#include "process-bpf-ring.h"
#include "process-table.h"
#include "util/units.h"

struct process_bpf; /* the skeleton that bpftool generates */
struct bpf_link;

struct bpf_cgroup {
        uint64_t id;
        char *path;
};

/*
 * Result of the walk on older kernels: processes with their threads' totals. The memory is kept for the next
 * walk.
 */
struct iterated {
        struct process_record *processes;
        struct iterated_thread *threads;
        size_t n_processes, processes_capacity, n_threads, threads_capacity;
};

struct process_collector {
        struct source source;
        struct process_table *table;
        struct process_bpf *bpf;
        struct bpf_link *iterator;            /* the walk on older kernels, or NULL */
        struct bpf_link *carriers_iterator; /* set if the network is counted */
        struct bpf_link *programs_iterator;
        struct program_record *programs; /* by pid; read in this poll when a name was first needed, else NULL */
        size_t n_programs;
        struct apps *apps;
        struct iterated iterated;
        struct process_ring exits;            /* all zeros: not loaded */
        struct bpf_opps opps;
        const struct process_record *records; /* mapped */
        const uint8_t *record_opps;           /* mapped, in rows of `opps_row` bytes */
        const uint64_t *changed, *gone;       /* mapped: indices of records */
        size_t max_records, n_mapped;
        bool fresh;                           /* the next walk begins anew */
        bool told_all;                        /* this poll listed all processes, not only changed ones */
        size_t opps_row;
        struct policy_times shown[BPF_POLICIES_MAX];
        uint32_t kinds;                       /* COUNTS_KINDS and COUNTS_MISSES, as far as counters could be opened */
        uint32_t misses_of_policy;            /* 1 << index: cache events are counted there */
        const struct log *log;
        struct bpf_cgroup *cgroups;           /* groups of processes that ended */
        size_t n_cgroups, cgroups_capacity;
        uint64_t lost; /* ends and execs lost because the ring was full, as far as reported */
        uint64_t summed;                      /* ends summed up for the same reason, as far as reported */
        uint64_t *users; /* rows of `user_row` bytes: a uid and its struct user_ends, as far as taken */
        size_t n_users, users_capacity, user_row;
        struct sample *sample;                /* sample that is being read */
        uint64_t bursts_lost;                 /* bursts lost because the ring was full, as far as reported */
        bool bursts_missed;                   /* some bursts since the previous sample are in no sample */
        int interfaces_fd; /* reports changes of interfaces and routes */
        int root_fd;
};

/*
 * Takes one record of the ring: a process that ended or executed a program, a control group, or a burst.
 * @data: the collector.
 */
int process_bpf_take_event(void *data, const void *bytes, size_t size);

/* process-bpf-load.c: loads the wanted parts that the kernel supports, and sets `counts`. */
int process_bpf_load(const struct collector_options *options, bool iterator,
                     struct process_collector *collector);
int process_bpf_map(struct process_collector *collector, size_t n); /* maps at least @n records */
void process_bpf_unload(struct process_collector *collector);

/* process-bpf-iter.c: the walk on older kernels. Returns 0 or a negative errno. */
int process_bpf_iterate(const struct bpf_link *iterator, struct iterated *iterated);
void process_bpf_free_iterated(struct iterated *iterated);

/* process-bpf-program.c: names of executable files that /proc does not show. */
bool process_bpf_find_program(void *collector, pid_t pid, char *name, size_t size);
void process_bpf_forget_programs(struct process_collector *collector);

/*
 * process-bpf-counters.c: opens the first @most counters of each CPU for the programs (enum counted_event), as far as
 * they can be had; sets `kinds` and `misses`. With @for_test, software events that count a
 * GHz. Returns 0; by cycles, -ENOENT: no CPU counts them; another negative errno.
 */
int process_bpf_open_counters(struct process_collector *collector, struct process_bpf *bpf, int most, bool for_test);
/* Moves counts since the last call to the sample. Call it before this poll's ends are read, which drop names. */
int process_bpf_read_counted(struct process_collector *collector, struct sample *sample);

/* process-bpf-cpu.c: copies the policies' times to the sample's opps. */
int process_bpf_read_opps(struct process_collector *collector, struct sample *sample);

/* process-bpf-cgroup.c: paths of control groups, as reported. */
int process_bpf_take_cgroup(struct process_collector *collector, const struct cgroup_record *record, size_t size);
const char *process_bpf_cgroup(const struct process_collector *collector, uint64_t id); /* NULL: unknown */
void process_bpf_forget_cgroups(struct process_collector *collector); /* only if there are many */
void process_bpf_free_cgroups(struct process_collector *collector);

/*
 * process-bpf-users.c: ends that had no room in the ring since the last call, as one record per user. Returns
 * 0; the result of @take; or a negative errno.
 */
int process_bpf_take_sums(struct process_collector *collector,
                          int (*take)(struct process_collector *collector, const struct process_record *record,
                                      const uint64_t *opps));

/*
 * process-bpf-bursts.c: puts the open bursts into the ring as far as they have come; takes one record of the
 * ring; and completes the sample, unless the read @failed.
 */
int process_bpf_tell_bursts(struct process_collector *collector);
int process_bpf_take_burst(struct process_collector *collector, const struct burst_record *record);
void process_bpf_finish_bursts(struct process_collector *collector, bool failed, struct sample *sample);

/* process-bpf-net.c: the machine's bursts, and the kinds of interfaces. */
void process_bpf_read_net(struct process_collector *collector, struct sample *sample);
/* @for_test: an interface to be taken for @kind; NULL: none. */
int process_bpf_watch_interfaces(struct process_collector *collector, const char *for_test, enum interface_kind kind);

/* process-bpf-net-way.c: chooses the programs that count network bytes; NET_BY_BEST: none. */
void net_way_choose(struct process_bpf *bpf, enum net_by by, bool bursts);
/* attaches the programs that libbpf does not attach */
int net_way_attach_packets(struct process_bpf *bpf, int root_fd);
