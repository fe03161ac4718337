/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A network interface of this machine, whatever its kind. */

#include <stdbool.h>
#include <stdint.h>

bool interface_has_address(const char *interface); /* one that is not of the link alone */
/*
 * Would what goes over @upper be cut off without @interface? It is that itself, or a bridge, bond or VLAN on
 * it. What a tunnel's own packets go over nobody tells: perhaps.
 */
bool interface_carries(int root_fd, const char *upper, const char *interface);
bool interface_is_set_up(const char *interface);   /* as `ip link set up` left it, connected or not */
int interface_bring_up(const char *interface);     /* as `ip link set up` */
int interface_bytes(int root_fd, const char *interface, uint64_t *ret); /* both ways, of all time */
/* How often it has gained or lost its carrier, which WiFi does with each connection. */
int interface_carrier_changes(int root_fd, const char *interface, uint64_t *ret);
