/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Files of packets as tcpdump and Wireshark write them (pcap and pcapng), read by libpcap; capture-none.c
 * replaces it in builds without libpcap.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "radio/radio-run.h"
#include "util/log.h"

/*
 * The headers of a captured packet: did the device send or receive it, and how many bytes does it have above the
 * link layer?
 */

/* The header that a packet in a capture begins with. */
enum capture_link {
        CAPTURE_IP,
        CAPTURE_ETHERNET,
        CAPTURE_COOKED,   /* header of tcpdump -i any, which tells by itself whether the packet was sent */
        CAPTURE_COOKED_2, /* the same with the interface's number */
        CAPTURE_LOOPBACK, /* four bytes, then IP */
};

#define CAPTURE_ADDRESSES_MAX 64

/* The device's own addresses; IPv4 as ::ffff:a.b.c.d. */
struct capture_addresses {
        struct in6_addr list[CAPTURE_ADDRESSES_MAX];
        size_t n;
};

enum capture_kind {
        CAPTURE_RADIO,   /* it went over the radio */
        CAPTURE_ELSEWHERE, /* it stayed on the device, or is a packet between other devices */
        CAPTURE_NOT_IP,
        CAPTURE_CUT,     /* its headers were not kept as a whole */
        CAPTURE_STRANGE, /* it is neither from nor to one of the addresses */
};

struct capture_headers {
        enum radio_direction direction; /* set for CAPTURE_RADIO */
        uint32_t bytes;                 /* likewise: length without the header of the link */
        struct in6_addr from, to;       /* set for CAPTURE_STRANGE */
        bool own;                       /* the packet is from or to one of the device's addresses */
};

/*
 * Adds @text to struct capture_addresses @data, as an option of util/options.h does. 0; -EINVAL: no
 * address; -E2BIG: too many.
 */
int capture_take_address(const char *text, void *data);
/* @bytes: the first @kept of the packet's @length bytes, which is at least @kept. */
enum capture_kind capture_read_headers(enum capture_link link, const uint8_t *bytes, size_t kept, uint32_t length,
                                       const struct capture_addresses *own, struct capture_headers *ret);

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
