/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a network namespace needs, by rtnetlink: devices, addresses, routes and rules. All act on the caller's. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * link_open() - a device of this name whose packets we read and write
 *
 * That is a TUN device; or, where this user may not have one, one end of a veth pair, and a packet socket at the other end.
 * Returns its descriptor, which does not block and of which read() gives an IPv4 packet; a negative errno.
 */
int link_open(const char *name);
/* A packet comes in by that device. As write(). */
ssize_t link_send(int device, const void *bytes, size_t length);

/* 0 or a negative errno, as all below. */
int link_up(const char *name);
int link_address(const char *name, uint32_t address, unsigned prefix);

/*
 * link_app_routes() - the app's side
 * @outside: all addresses are reached by it, else only the loopback's
 *
 * What is sent to 127.0.0.0/8 leaves by @name, too, and counts as local when it comes back from there.
 */
int link_app_routes(const char *name, bool outside);
/* The other side: every address is local there, but the app's. */
int link_middle_routes(const char *name);

/* A file of /proc/sys, of this network namespace. */
int link_set(const char *path, const char *value);
