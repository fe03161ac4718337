/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Collectors read all processes. All make the same samples; one is chosen at start. Those that use BPF are in
 * an archive of their own, so that libjoulecast.so does not need libbpf.
 */

#include "app/app.h"
#include "source/source.h"
#include "util/log.h"

struct collector_options {
        int root_fd;                            /* root folder of the machine, with sys/ and proc/ */
        struct apps *apps; /* not owned; NULL: each process's app is its program's name */
        const struct log *log;
        bool everyone; /* include all users' processes, even if some of their data cannot be read */
        uint32_t leave_out;                     /* COUNTS_* flags that are not loaded, or not opened */
        enum net_by net_by;                     /* use this way, or count no network bytes at all */
        bool no_counters;                       /* hardware counters are left to others */
        bool cycles_for_test;                   /* software events replace the CPU's counters */
        const char *radio_for_test;             /* an interface to be taken for a radio */
        enum air air_for_test;                  /* the kind of that radio */
};

/* Hardware counters that a CPU of this machine lets us open now. */
struct process_counters {
        int n;              /* how many of cycles, instructions and a cache event, in this order */
        int err;            /* why the next one cannot be had: -ENOENT: there is none; -EBUSY: others hold it */
        const char *misses; /* name of the cache event; NULL: none */
};

struct collector {
        const char *name; /* name for --collector */
        const char *what; /* one line of description */
        /* Returns -ENODEV if it does not work on this machine. */
        int (*open)(const struct collector_options *options, struct source **ret);
        void (*try_counters)(bool for_test, struct process_counters *ret); /* NULL: it reads none */
};

/* In order of cost, the cheapest first; a NULL name ends each table. */
extern const struct collector all_collectors[];   /* including BPF */
extern const struct collector plain_collectors[]; /* only /proc */

/**
 * collector_open() - open the first of @collectors that works on this machine
 * @name: name of the collector to use, or NULL
 *
 * Return: 0; -EINVAL for an unknown name; or the error of the named (or the last) collector.
 */
int collector_open(const struct collector *collectors, const char *name,
                   const struct collector_options *options, struct source **ret);

int process_bpf_open(const struct collector_options *options, struct source **ret);
int process_bpf_iter_open(const struct collector_options *options, struct source **ret);
int process_kept_open(const struct collector_options *options, struct source **ret);
int process_plain_open(const struct collector_options *options, struct source **ret);

/*
 * Counts bytes of processes by their open sockets, for a collector without COUNTS_NET. Read it after the
 * collector.
 */
int net_process_open(int root_fd, const char *wifi_for_test, struct source **ret);

void process_bpf_try_counters(bool for_test, struct process_counters *ret);

/*
 * For tests on machines with one frequency: reports a frequency change of a CPU. Returns -ENODATA if this
 * collector does not split CPU time by frequency.
 */
int process_bpf_feed_frequency(struct source *source, uint32_t cpu, uint32_t khz);
