/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the headers of a captured packet say: did the device send or receive it, and how many bytes has it above the link? */

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio-run.h"

/* What a packet in a capture begins with. */
enum capture_link {
        CAPTURE_IP,
        CAPTURE_ETHERNET,
        CAPTURE_COOKED,   /* of tcpdump -i any, which says by itself what was sent */
        CAPTURE_COOKED_2, /* the same with the interface's number */
        CAPTURE_LOOPBACK, /* four bytes, then IP */
};

#define CAPTURE_ADDRESSES_MAX 64

/* The device's own; IPv4 as ::ffff:a.b.c.d. */
struct capture_addresses {
        struct in6_addr list[CAPTURE_ADDRESSES_MAX];
        size_t n;
};

enum capture_kind {
        CAPTURE_RADIO,   /* it went over the radio */
        CAPTURE_ELSEWHERE, /* it stayed on the device, or is one between others */
        CAPTURE_NOT_IP,
        CAPTURE_CUT,     /* less than its headers was kept */
        CAPTURE_STRANGE, /* it is neither from nor to one of the addresses */
};

struct capture_headers {
        enum radio_direction direction; /* of CAPTURE_RADIO */
        uint32_t bytes;                 /* likewise: without the header of the link */
        struct in6_addr from, to;       /* of CAPTURE_STRANGE */
};

/*
 * Adds @text to struct capture_addresses @data, as an option of util/options.h does. 0; -EINVAL: no address; -E2BIG: too many.
 */
int capture_take_address(const char *text, void *data);
/* @bytes: the first @kept of @length, which is at least that. */
enum capture_kind capture_read_headers(enum capture_link link, const uint8_t *bytes, size_t kept, uint32_t length,
                                       const struct capture_addresses *own, struct capture_headers *ret);
