/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a network namespace needs, by rtnetlink: addresses, routes and rules; and TUN devices. All act on the caller's. */

#include <stdbool.h>
#include <stdint.h>

/* A TUN device of this name. Its descriptor, which does not block; a negative errno. */
int link_tun(const char *name);

/* Everything up: lo and a TUN device of @mtu. 0 or a negative errno, as all below. */
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
