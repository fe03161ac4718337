/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Network load by joulecast-traffic, which does one thing at a time. If a mode asks for several, they take
 * turns of some seconds at accordingly higher rates.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

struct traffic_load;

/* Source and peer; strings outlive the load. */
struct traffic_where {
        const char *program;   /* NULL: looked up like the other programs */
        const char *interface; /* the only interface to use */
        const char *url;       /* to receive from, or NULL */
        const char *peer;      /* HOST or HOST:PORT of an `iperf3 -s`, or NULL */
};

struct traffic_job {
        double rx_bytes_per_s, tx_bytes_per_s;
        double wakes_per_s;    /* small bursts ... */
        /* ... with this number of packets to the peer; 0: to the url, if there is one, which answers with some */
        uint32_t wake_packets;
        bool large_packets;    /* size of these packets: as large as most networks allow, or small */
};

/* -EINVAL: the peer cannot be parsed. The program starts with the first job. */
int traffic_load_open(const struct traffic_where *where, const struct log *log, struct traffic_load **ret);
void traffic_load_close(struct traffic_load *load); /* NULL does nothing */

/* Approximate traffic of its bursts, with headers. */
double traffic_wake_bytes_per_s(const struct traffic_job *job);
/* Replaces the job. @most_bytes: number of bytes after which the load ends. */
int traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes);

/*
 * Call it regularly: it reads answers and sends the next request. 0; -EDQUOT: all bytes are used up; -EIO,
 * logged: it failed repeatedly. The load has then ended.
 */
int traffic_load_tend(struct traffic_load *load);
