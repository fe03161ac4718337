/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Would a remote user be cut off when a network interface goes down? Changes nothing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The interface that packets take, by the kernel's own lookup (rtnetlink(7)), with all its tables and rules.
 */

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

/*
 * Does a login from elsewhere use @interface? Remote addresses are taken from the environment, the login
 * server's sockets, utmp and connections to port 22, and looked up in the kernel's routes. One without a
 * known address counts for every default route, one through a tunnel for any interface.
 */
bool remote_login_over(int root_fd, const char *interface);

/* An established connection, from a line of /proc/net/tcp or tcp6. */
struct connection {
        struct address near, far;
        unsigned near_port;
        unsigned long inode; /* inode of its socket */
};

/* -EINVAL: not an established connection with another machine. */
int remote_login_parse_connection(const char *line, struct connection *ret);

/* Where an entry of utmp is logged in from. -ENOENT: from nowhere else; -EINVAL: its address is not known. */
struct utmpx;
int remote_login_parse_utmp(const struct utmpx *entry, struct address *ret);

/* sshd's SSH_CONNECTION: "REMOTE-ADDRESS PORT LOCAL-ADDRESS PORT". -EINVAL. */
int remote_login_parse_ssh(const char *text, struct connection *ret);
