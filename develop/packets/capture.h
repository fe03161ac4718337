/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Files of packets as tcpdump and Wireshark write them (pcap and pcapng), read by libpcap; capture-none.c
 * replaces it in builds without libpcap.
 */

#include <stdbool.h>
#include <stdio.h>

#include "capture-link.h"
#include "util/log.h"

/* Was this built with libpcap? */
extern const bool capture_supported;

struct capture;

#define CAPTURE_SECONDS_MAX (INT64_C(1) << 33) /* in the year 2242; as ns it fits into 64 bits */

struct captured {
        int64_t time_ns;      /* since 1970 */
        uint32_t length;      /* length of the whole packet in bytes */
        size_t kept;          /* number of its bytes in the file, at most @length */
        const uint8_t *bytes; /* valid until the next packet is read */
        enum capture_link link; /* the header that it begins with */
};

/* Takes @file, and closes it in any case. 0; a negative errno after a sentence to @log, which calls it @name. */
int capture_open(FILE *file, const char *name, const struct log *log, struct capture **ret);
/* Are packets in order of time, unless the file is damaged? Those of several interfaces may not be. */
bool capture_is_ordered(const struct capture *capture);
/* Can packets tell without addresses whether they were sent? True for pcapng, too, where only each packet shows it. */
bool capture_may_tell(const struct capture *capture);
/* Finds a link by its number in a file. 0; -EPROTONOSUPPORT. */
int capture_link(int type, enum capture_link *ret);
/* 1: a packet; 0: there are no more; a negative errno after a sentence. */
int capture_next(struct capture *capture, struct captured *ret);
void capture_close(struct capture *capture);
void capture_closep(struct capture **capture);

/* A file of IP packets with times in ns. */
struct capture_writer;

/* @kept_max: bytes that are kept of each packet, at most. 0; -ENOMEM; -ENOTSUP: without libpcap. */
int capture_writer_new(size_t kept_max, struct capture_writer **ret);
void capture_writer_add(struct capture_writer *writer, const struct captured *packet);
/* Returns the file's bytes in @ret, to free(), and frees @writer. 0; -ENOMEM. */
int capture_writer_end(struct capture_writer *writer, char **ret, size_t *ret_length);
