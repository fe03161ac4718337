/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A source watches one thing that draws power. It reports a total that only
 * grows (CPU time, bytes) or a level (charge, brightness), never a difference:
 * a late or missed read then loses nothing. interval.c alone subtracts, and
 * takes a total that went backward (disk unplugged, reboot) for a gap.
 *
 * One real source per file (clock.c, battery.c, cpu.c, disk.c, net.c, gpu.c, process.c, and
 * focus.c for the screen and who has it); the virtual device is a source too, and the programs above
 * cannot tell the difference.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"
#include "util/log.h"

struct source;
struct apps;

struct source_ops {
        const char *name; /* of the collector, as doctor and --collector show it */
        int (*read)(struct source *source, struct sample *sample); /* 0, -ENODATA, -errno */
        void (*close)(struct source *source);
        /*
         * What a program's loop watches for input (-1: nothing now),
         * and is then told about, at its time. Or NULL.
         */
        int (*fd)(const struct source *source);
        void (*hear)(struct source *source, uint64_t boottime_ns);
};

struct source { /* embedded as the first member of each source */
        const struct source_ops *ops;
        uint32_t counts; /* COUNTS_* of collector.h, if it collects processes */
        uint32_t net_by; /* enum net_by of collector.h: what COUNTS_NET comes from */
        bool own_only;   /* counts our user's processes alone: who is not root sees half of the others' */
        bool due;        /* it heard that another interval begins now: the machine goes to sleep, or is awake again */
        uint64_t lost;   /* ends and execs of processes that the kernel had no room to tell, so far */
        int failed;      /* what its last read() failed with; 0: it works */
};

/* All sources of a machine, read in this order: clocks and operating points come before processes. */
struct sources {
        struct source *list[16];
        size_t n;
        struct apps *apps; /* which app a process is; shared by those that need it, freed with them. May be NULL */
        const struct log *log; /* hears once that a source fails, and that it works again. May be NULL */
};

int sources_add(struct sources *sources, struct source *source); /* takes ownership, also on error */
/* Empties @sample and lets each source fill in its part; a part that fails is unset in `have`. */
int sources_read(struct sources *sources, struct sample *sample);
/* The collector failed at the last read: who did what is not known, and no interval shall say that nobody did. */
bool sources_miss_processes(const struct sources *sources);
void sources_close(struct sources *sources);
