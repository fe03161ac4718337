/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The headers of a captured packet: did the device send or receive it, and how many bytes does it have above the
 * link layer?
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio-run.h"

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
