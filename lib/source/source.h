/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A source watches one thing that draws power. It reports a total that only grows (CPU time, bytes) or a level
 * (charge, brightness), never a difference, so a late or missed read loses nothing. Only lib/interval subtracts, and
 * treats a total that went backward (disk unplugged, reboot) as a gap.
 *
 * One file per source: clock.c, battery.c, cpu.c, disk.c, net.c, gpu.c; the collectors of processes in lib/process;
 * focus.c for the screen and the app in the foreground. The virtual device is a source, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"
#include "util/log.h"

struct source;

/* Quantities that a collector of processes counts. */
enum source_counts {
        COUNTS_CPU = 1 << 0,
        COUNTS_DISK = 1 << 1,
        COUNTS_NET = 1 << 2,   /* bytes and bursts by kind of interface */
        COUNTS_OPPS = 1 << 3,  /* CPU time by frequency, and `any` of each policy */
        COUNTS_EXITS = 1 << 4, /* processes that begin and end between two polls */
        COUNTS_CYCLES = 1 << 5, /* cycles, from which COUNTS_OPPS comes if the kernel shows no frequency */
        COUNTS_BURSTS = 1 << 6, /* bursts of packets, by process and radio */
        COUNTS_KINDS = 1 << 7,  /* instructions and cycles, by process and policy */
        COUNTS_MISSES = 1 << 8, /* ... and a cache event, `misses` */
};

/* Ways to count network bytes by process, the best first; docs/performance.md lists what each misses. */
enum net_by {
        NET_BY_BEST,      /* as an option: the best that works */
        NET_BY_CALLS,     /* tracepoints of socket calls (BPF); for bursts also packets */
        NET_BY_PACKETS,   /* packets of sockets whose owner is known (BPF) */
        NET_BY_SOCKETS,   /* totals of TCP sockets that exist at a poll (sock_diag) */
        NET_BY_COUNT
};

struct source_ops {
        const char *name; /* name of a collector, as doctor and --collector show it */
        int (*read)(struct source *source, struct sample *sample); /* 0, -ENODATA, -errno */
        void (*close)(struct source *source);
        /*
         * The descriptor that the program's loop watches for input (-1: none now), and the function that it calls
         * then. Or NULL.
         */
        int (*fd)(const struct source *source);
        void (*hear)(struct source *source, uint64_t boottime_ns);
};

struct source { /* embedded as the first member of each source */
        const struct source_ops *ops;
        uint32_t counts; /* COUNTS_*, if it collects processes */
        uint32_t net_by; /* enum net_by: source of COUNTS_NET */
        const char *misses; /* name of the cache event of COUNTS_MISSES */
        bool own_only;   /* counts only processes of our user, as it has no root privileges */
        bool due;        /* a new interval begins now: the machine is about to suspend, or has resumed */
        uint64_t lost;   /* number of ends and execs lost so far because the kernel's buffer was full */
        int failed;      /* error of its last read(); 0: none */
};

/* All sources of a machine, read in this order: clocks and operating points come before processes. */
struct sources {
        struct source *list[16];
        size_t n;
        const struct log *log; /* gets one message when a source fails, and when it works again; may be NULL */
};

int sources_add(struct sources *sources, struct source *source); /* takes ownership, also on error */
/* Empties @sample and lets each source fill in its part; the part of a source that fails is unset in `have`. */
int sources_read(struct sources *sources, struct sample *sample);
/* Did the collector fail at the last read? Then usage by process is unknown for this interval, not zero. */
bool sources_miss_processes(const struct sources *sources);
void sources_close(struct sources *sources);
