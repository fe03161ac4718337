/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the interface over which packets leave the machine, by asking the kernel (rtnetlink(7)). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_TUNNELS_MAX 8

/* Tunnels (VPNs) of this network namespace, and the hardware over which their packets leave. */
struct net_tunnels {
        struct net_tunnel {
                int index;
                bool carried; /* a process with /dev/net/tun open sends its packets; false: the kernel does */
        } list[NET_TUNNELS_MAX];
        size_t n;
        int uplink;           /* index of the hardware; 0: there is none */
        uint32_t metric;      /* metric of the uplink's route */
};

/*
 * net-tunnel.c: @hardware is the index of one more interface to be taken for hardware; 0: none. Returns 0;
 * -EIO if the kernel does not reply.
 */
int net_tunnels_find(int hardware, struct net_tunnels *ret);
/* NULL: it is no tunnel */
const struct net_tunnel *net_tunnels_get(const struct net_tunnels *tunnels, int index);

/*
 * net-route.c: index of the interface over which packets leave for the Internet, or would leave if they had
 * to use @interface (not 0). 0: there is no such route. @metric: metric of that route; lower is better.
 */
int net_route_find(int interface, uint32_t *metric);
