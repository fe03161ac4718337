/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Who sends a request: a network, to which limits apply. Addresses are not kept. */

#include <stdbool.h>

#include "limits.h"

#define PEER_SIZE 64

struct sockaddr;

struct peer {
        char address[PEER_SIZE];
        char network[PEER_SIZE]; /* 24 bits of an IPv4 address, 48 of an IPv6 address */
        bool local;              /* this host itself, and no proxy on it */
};

/*
 * IPv4 within IPv6 is IPv4. @forwarded: X-Forwarded-For, or NULL; its last address counts if a proxy on this host
 * added it, and a header from anyone else is ignored.
 */
void peer_find(const struct sockaddr *address, const char *forwarded, struct peer *ret);
