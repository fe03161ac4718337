/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* By which interface packets leave the machine, as the kernel answers (rtnetlink(7)). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_TUNNELS_MAX 8

/* Tunnels (VPNs) of this network namespace, and the hardware by which their packets leave. */
struct net_tunnels {
        struct net_tunnel {
                int index;
                bool carried; /* by a process that has /dev/net/tun open; else by the kernel itself */
        } list[NET_TUNNELS_MAX];
        size_t n;
        int uplink;           /* index of that hardware; 0: there is none */
        uint32_t metric;      /* of its route */
};

/*
 * net-tunnel.c: @hardware is the index of one more interface to be taken for hardware; 0: none. 0; -EIO where the
 * kernel does not answer.
 */
int net_tunnels_find(int hardware, struct net_tunnels *ret);
const struct net_tunnel *net_tunnels_get(const struct net_tunnels *tunnels, int index); /* NULL: it is none */

/*
 * net-route.c: index of the interface by which packets leave for the Internet, or would leave over @interface, if that
 * is not 0; 0: there is no such route. @metric: of that route, the lower the better.
 */
int net_route_find(int interface, uint32_t *metric);
