/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A network interface of this machine, whatever its kind. */

#include <stdbool.h>
#include <stdint.h>

bool interface_has_address(const char *interface); /* other than a link-local one */
/*
 * Would traffic over @upper be cut off without @interface? True for the interface itself, for a bridge, bond
 * or VLAN on it, and for any tunnel, whose route is unknown.
 */
bool interface_carries(int root_fd, const char *upper, const char *interface);
bool interface_is_set_up(const char *interface);   /* as `ip link set up` left it, connected or not */
int interface_bring_up(const char *interface);     /* as `ip link set up` */
int interface_bytes(int root_fd, const char *interface, uint64_t *ret); /* received and sent since boot */
/* How often the carrier changed; WiFi does so with each connection. */
int interface_carrier_changes(int root_fd, const char *interface, uint64_t *ret);
