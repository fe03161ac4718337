/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Two network namespaces and a veth pair between them, a peer that answers at the other end, and sockets. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define HERE "10.231.7.1"
#define THERE "10.231.7.2"
#define HERE_6 "fd07::1"
#define THERE_6 "fd07::2"
#define BYTES 1000003
#define BYTES_UNREAD 7000

/*
 * Makes the wire between our namespace, which is empty yet, and that of @peer; it ends with them. Our end is `wire0`.
 */
bool net_wire_make(pid_t peer);

/*
 * Discards data at port 7001, sends BYTES to clients of 7002 and BYTES_UNREAD to clients of 7004, answers datagrams at
 * 7003 and 7006, and connects back to senders at 7005. Never returns.
 */
void net_wire_be_peer(void);

struct sockaddr_in address(const char *host, uint16_t port);
int listen_at(const char *host, uint16_t port, int type); /* ends the program where it cannot */
int connect_to(const char *host, uint16_t port, int type); /* tries for a second */
void write_all(int fd, size_t n);
void read_all(int fd, int flags);
