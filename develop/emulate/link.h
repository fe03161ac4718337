/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sets up the caller's network namespace by rtnetlink: devices, addresses, routes and rules. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * link_open() - makes a network device of this name whose packets we read and write
 *
 * It is a TUN device; or, where this user may not have one, one end of a veth pair, with a packet socket
 * at the other end. Returns a descriptor that does not block, and of which each read() gives one IPv4 packet;
 * or a negative errno.
 */
int link_open(const char *name);
/* Sends a packet to the namespace, where it comes in by that device. Returns as write(). */
ssize_t link_send(int device, const void *bytes, size_t length);

/* Returns 0 or a negative errno, as do all functions below. */
int link_up(const char *name);
int link_address(const char *name, uint32_t address, unsigned prefix);

/*
 * link_app_routes() - sets the routes of the app's side
 * @outside: all addresses are reached through @name, else only the loopback's
 *
 * Packets to 127.0.0.0/8 leave by @name, too, and count as local when they come back from there.
 */
int link_app_routes(const char *name, bool outside);
/* Sets the routes of the other side, where every address but the app's is local. */
int link_middle_routes(const char *name);

/* Writes @value to an existing file, such as one of /proc/sys (for this network namespace) or of a control group. */
int link_set(const char *path, const char *value);
