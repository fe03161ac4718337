/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Over which interface packets go: by the kernel's own answer
 * (rtnetlink(7)), all its tables and rules included.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address {
        int family;              /* AF_INET, AF_INET6; 0: not known */
        unsigned char bytes[16]; /* as they are sent */
        uint32_t scope;          /* of a link-local one: its interface; 0: not known */
};

/* "192.0.2.1", "2001:db8::1", "fe80::1%wlan0"; IPv4 in IPv6 is IPv4. -EINVAL. */
int address_parse(const char *text, struct address *ret);
void address_unmap(struct address *address);
bool address_is_loopback(const struct address *address);
bool address_is_link_local(const struct address *address); /* of IPv6 */

/* To @to; @from: the own end, which rules may look at. -ENETUNREACH and alike: nowhere. */
int route_lookup(const struct address *to, const struct address *from, unsigned *interface);
/* The interface's number in an answer; another negative errno: what the kernel said. */
int route_parse(const void *answer, size_t length, unsigned *interface);

/*
 * Has any default route, of IPv4 or IPv6, this interface,
 * whatever its metric? true if that cannot be read.
 */
bool route_is_default(int root_fd, const char *interface);
/* The same of a line of /proc/net/route, and of /proc/net/ipv6_route. */
bool route_is_default_in(const char *line, const char *interface);
bool route_is_default_in6(const char *line, const char *interface);
