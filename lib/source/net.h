/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

struct net_line {
        char name[32];
        uint64_t rx_bytes;
        uint64_t tx_bytes;
};

enum net_kind {
        NET_VIRTUAL, /* loopback, bridges, tunnels: their bytes pass through another interface or none */
        NET_WIFI,
        NET_CELLULAR,
        NET_OTHER,   /* wired */
};

/* Parses one line of /proc/net/dev; false: it is a line of the header, or invalid. */
bool net_parse_line(const char *line, struct net_line *ret);

enum net_kind net_kind_of(int root_fd, const char *name);
/* Likewise, but a virtual interface on exactly one other (a modem's channel: rmnet, qmimux; a VLAN) has its kind. */
enum net_kind net_kind_of_packets(int root_fd, const char *name);
bool net_is_up(int root_fd, const char *name); /* a WiFi interface is up if it is associated */

int net_open(int root_fd, struct source **ret);
