/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The interface that packets take, by the kernel's own lookup (rtnetlink(7)), with all its tables and rules.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address {
        int family;              /* AF_INET, AF_INET6; 0: unknown */
        unsigned char bytes[16]; /* network order */
        uint32_t scope;          /* interface of a link-local address; 0: unknown */
};

/* "192.0.2.1", "2001:db8::1", "fe80::1%wlan0"; IPv4-mapped IPv6 becomes IPv4. -EINVAL. */
int route_address_parse(const char *text, struct address *ret);
void route_address_unmap(struct address *address);
bool route_address_is_loopback(const struct address *address);
bool route_address_is_link_local(const struct address *address); /* true only for IPv6 */

/* To @to; @from: local address, for policy rules; may be NULL. -ENETUNREACH and the like: no route. */
int route_lookup(const struct address *to, const struct address *from, unsigned *interface);
/* The interface's index in an answer; another negative errno: the kernel's error. */
int route_parse(const void *answer, size_t length, unsigned *interface);

/* Has this interface a default route of IPv4 or IPv6, of any metric? True if that cannot be read. */
bool route_is_default(int root_fd, const char *interface);
/* The same for one line of /proc/net/route and of /proc/net/ipv6_route. */
bool route_is_default_in(const char *line, const char *interface);
bool route_is_default_in6(const char *line, const char *interface);
