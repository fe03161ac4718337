/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of the BPF collector only. libbpf's types stop here. */

#include <time.h>

#include "bpf-opps.h"
#include "bpf/process-records.h"
#include "collector.h"
#include "process-bpf-ring.h"
#include "process-table.h"
#include "util/units.h"

struct process_bpf; /* the skeleton that bpftool makes */
struct bpf_link;

struct bpf_cgroup {
        uint64_t id;
        char *path;
};

/* Result of the walk on older kernels: processes with their threads' totals. Memory is kept for the next walk. */
struct iterated {
        struct process_record *processes;
        struct iterated_thread *threads;
        size_t n_processes, processes_capacity, n_threads, threads_capacity;
};

struct process_collector {
        struct source source;
        struct process_table *table;
        struct process_bpf *bpf;
        struct bpf_link *iterator;            /* of the walk on older kernels, or NULL */
        struct bpf_link *carriers_iterator; /* if it counts the network */
        struct bpf_link *programs_iterator;
        struct program_record *programs;      /* by pid, since a name was first wanted in this poll; or NULL */
        size_t n_programs;
        struct apps *apps;
        struct iterated iterated;
        struct process_ring exits;            /* all zeros: not loaded */
        struct bpf_opps opps;
        const struct process_record *records; /* mapped */
        const uint8_t *record_opps;           /* mapped, in rows of `opps_row` bytes */
        const uint64_t *changed, *gone;       /* mapped: places of records */
        size_t max_records, n_mapped;
        bool fresh;                           /* the next walk begins anew */
        bool told_all;                        /* this poll listed all processes, not only changes */
        size_t opps_row;
        struct policy_times shown[BPF_POLICIES_MAX];
        const struct log *log;
        struct bpf_cgroup *cgroups;           /* those of processes that ended */
        size_t n_cgroups, cgroups_capacity;
        uint64_t lost;                        /* ends and execs that were lost because the ring was full, as reported so far */
        uint64_t summed;                      /* ends that had no room there and were added up, likewise */
        uint64_t *users;                      /* rows of `user_row`: a uid and its struct user_ends, as taken so far */
        size_t n_users, users_capacity, user_row;
        struct sample *sample;                /* that is being read */
        uint64_t bursts_lost;                 /* because the ring was full, as reported so far */
        bool bursts_missed;                   /* some since the sample before are in none */
        int interfaces_fd; /* reports changes of interfaces and routes */
        int root_fd;
};

/* One record of the ring: a process that ended or executed a program, a control group, or a burst. @data: the collector */
int process_bpf_take_event(void *data, const void *bytes, size_t size);

/* process-bpf-load.c: loads what the kernel supports of what is wanted; sets `counts`. */
int process_bpf_load(const struct collector_options *options, bool iterator,
                     struct process_collector *collector);
int process_bpf_map(struct process_collector *collector, size_t n); /* that many of the records, at least */
void process_bpf_unload(struct process_collector *collector);

/* process-bpf-iter.c: the walk on older kernels. 0 or a negative errno. */
int process_bpf_iterate(const struct bpf_link *iterator, struct iterated *iterated);
void process_bpf_free_iterated(struct iterated *iterated);

/* process-bpf-program.c: the names of executable files, for what /proc does not tell. */
bool process_bpf_find_program(void *collector, pid_t pid, char *name, size_t size);
void process_bpf_forget_programs(struct process_collector *collector);

/*
 * process-bpf-cycles.c: an event on each CPU that counts its cycles; of @for_test, a software event that counts a GHz.
 * 0; -ENOENT: no CPU counts them; another negative errno.
 */
int process_bpf_try_cycles(bool for_test); /* whether a CPU counts them */
int process_bpf_open_cycles(struct process_bpf *bpf, bool for_test);

/* process-bpf-cpu.c: times of the policies into the sample's opps. */
int process_bpf_read_opps(struct process_collector *collector, struct sample *sample);

/* process-bpf-cgroup.c: paths of control groups, as reported. */
int process_bpf_take_cgroup(struct process_collector *collector, const struct cgroup_record *record, size_t size);
const char *process_bpf_cgroup(const struct process_collector *collector, uint64_t id); /* NULL: not known */
void process_bpf_forget_cgroups(struct process_collector *collector); /* once they are many */
void process_bpf_free_cgroups(struct process_collector *collector);

/*
 * process-bpf-users.c: ends that had no room in the ring, since the last call: a record for each user. 0; what @take
 * returned; a negative errno.
 */
int process_bpf_take_sums(struct process_collector *collector,
                          int (*take)(struct process_collector *collector, const struct process_record *record,
                                      const uint64_t *opps));

/*
 * process-bpf-bursts.c: those that go on are put into the ring, as far as they have come; one record of the ring; and what
 * the sample says of all, unless the read @failed.
 */
int process_bpf_tell_bursts(struct process_collector *collector);
int process_bpf_take_burst(struct process_collector *collector, const struct burst_record *record);
void process_bpf_finish_bursts(struct process_collector *collector, bool failed, struct sample *sample);

/* process-bpf-net.c: bursts of the machine, and the kinds of interfaces. */
void process_bpf_read_net(struct process_collector *collector, struct sample *sample);
/* @for_test: an interface to be taken for @kind; NULL: none. */
int process_bpf_watch_interfaces(struct process_collector *collector, const char *for_test, enum interface_kind kind);

/* process-bpf-net-way.c: which programs count network bytes; NET_BY_BEST: none. */
void net_way_choose(struct process_bpf *bpf, enum net_by by, bool bursts);
int net_way_attach_packets(struct process_bpf *bpf, int root_fd); /* what libbpf does not attach by itself */
