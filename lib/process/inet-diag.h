/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's list of TCP sockets with their totals (sock_diag(7)). It needs no privileges. */

#include <stdbool.h>
#include <stdint.h>

struct inet_socket {
        uint64_t cookie;     /* unique until reboot */
        uint32_t inode;      /* as in /proc/PID/fd; 0: no process has it open any more */
        uint32_t uid;
        uint32_t interface;  /* interface to which it is bound; 0: none */
        uint8_t here[16];    /* local address: IPv6, or IPv4 mapped into IPv6 */
        uint8_t there[16];
        uint64_t sent;       /* payload, counting each byte once */
        uint64_t received;
};

/* Returns a netlink socket, or a negative errno. */
int inet_diag_open(void);

/*
 * Calls @each for every connected TCP socket of this network namespace. Stops at a non-zero return and
 * returns it.
 */
int inet_diag_list(int fd, int (*each)(void *data, const struct inet_socket *socket), void *data);

/* Is this 127.0.0.0/8 or ::1? */
bool inet_is_loopback(const uint8_t *address);
