/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Network load by joulecast-traffic, a child that does one thing at a time: of several that a mode asks for,
 * each gets its turn of some seconds, at as many times its rate.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

struct traffic_load;

/* Both sides; strings outlive the load. */
struct traffic_where {
        const char *program;   /* NULL: found as the other programs are */
        const char *interface; /* over which alone it goes */
        const char *url;       /* to receive from, or NULL */
        const char *peer;      /* HOST or HOST:PORT of an `iperf3 -s`, or NULL */
};

struct traffic_job {
        double rx_bytes_per_s, tx_bytes_per_s;
        double wakes_per_s;
};

/* -EINVAL: the peer is none. The program is started with the first job. */
int traffic_load_open(const struct traffic_where *where, const struct log *log, struct traffic_load **ret);
void traffic_load_close(struct traffic_load *load); /* NULL is nothing */

/* In place of the job before. @most_bytes: it ends when so many may have been moved. */
int traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes);

/*
 * To be called now and then: hears answers and asks for what comes next. 0; -EDQUOT: all bytes may have been
 * moved; -EIO: it failed again and again, and the log was told why. Then the load has ended.
 */
int traffic_load_tend(struct traffic_load *load);

/* "HOST", "HOST:PORT", "[ADDRESS]:PORT"; an address with several colons is one without a port. */
int traffic_parse_peer(const char *text, char *host, size_t size, uint16_t *port);
