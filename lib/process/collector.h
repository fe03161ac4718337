/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The collectors read all processes. All make the same samples; one is chosen at start. Those with BPF are in an
 * archive of their own, so that libjoulecast.so needs no libbpf.
 */

#include "app/app.h"
#include "source/source.h"
#include "util/log.h"

struct collector_options {
        int root_fd;                            /* of the machine: sys/ and proc/ below it */
        struct apps *apps;                      /* not owned; NULL: processes go by their program's name */
        const struct log *log;
        bool everyone;                          /* all users' processes, whatever of them cannot be read */
        uint32_t leave_out;                     /* COUNTS_* not to load */
        enum net_by net_by;                     /* this one, or no network bytes at all */
        bool cycles_for_test;                   /* a software event stands in for the CPU's cycles */
        const char *radio_for_test;             /* an interface to be taken for ... */
        enum air air_for_test;                  /* ... this radio's; or NULL */
};

struct collector {
        const char *name; /* of --collector */
        const char *what; /* a line for people */
        int (*open)(const struct collector_options *options, struct source **ret); /* -ENODEV: not on this machine */
};

/* The cheapest first; a NULL name ends each. */
extern const struct collector all_collectors[];   /* with BPF */
extern const struct collector plain_collectors[]; /* /proc alone */

/**
 * collector_open() - the first of @collectors that works on this machine
 * @name: of the one to use, or NULL
 *
 * Return: 0; -EINVAL for an unknown name; what the named (or the last) one failed with.
 */
int collector_open(const struct collector *collectors, const char *name,
                   const struct collector_options *options, struct source **ret);

int process_bpf_open(const struct collector_options *options, struct source **ret);
int process_bpf_iter_open(const struct collector_options *options, struct source **ret);
int process_kept_open(const struct collector_options *options, struct source **ret);
int process_plain_open(const struct collector_options *options, struct source **ret);

/* Bytes of processes by the sockets that they hold, for a collector without COUNTS_NET; read after it. */
int net_process_open(int root_fd, const char *wifi_for_test, struct source **ret);

/*
 * For tests on machines with one frequency: reports a change of the frequency of a CPU. -ENODATA: this collector
 * does not split CPU time by frequency.
 */
int process_bpf_feed_frequency(struct source *source, uint32_t cpu, uint32_t khz);
