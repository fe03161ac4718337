/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Files of packets as tcpdump and Wireshark write them (pcap and pcapng), by libpcap; capture-none.c where it was not there. */

#include <stdbool.h>
#include <stdio.h>

#include "capture-link.h"
#include "util/log.h"

/* Was this built with libpcap? */
extern const bool capture_supported;

struct capture;

struct captured {
        int64_t time_ns;      /* since 1970 */
        uint32_t length;      /* of the whole packet */
        size_t kept;          /* bytes of it in the file, at most @length */
        const uint8_t *bytes; /* valid until the next is read */
};

/* Takes @file, and closes it in any case. 0; a negative errno after a sentence to @log, which calls it @name. */
int capture_open(FILE *file, const char *name, const struct log *log, struct capture **ret);
enum capture_link capture_link_of(const struct capture *capture);
/* 1: a packet; 0: there are no more; a negative errno after a sentence. */
int capture_next(struct capture *capture, struct captured *ret);
void capture_close(struct capture *capture);
void capture_closep(struct capture **capture);

/* A file of IP packets with times in ns. */
struct capture_writer;

/* @kept_max: of each packet. 0; -ENOMEM; -ENOTSUP: without libpcap. */
int capture_writer_new(size_t kept_max, struct capture_writer **ret);
void capture_writer_add(struct capture_writer *writer, const struct captured *packet);
/* Its bytes, to free(), and frees @writer. 0; -ENOMEM. */
int capture_writer_end(struct capture_writer *writer, char **ret, size_t *ret_length);
