/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Connections of the server. Whoever is slow does not stop the others: a request that is not complete in time is cut
 * off, and where there are too many connections, of one address, of one network or in all, the one that waits longest
 * is.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "peer.h"

#define CONNECTIONS_MAX 700      /* in all; fewer than the 1024 files that a process can have at least */
#define CONNECTIONS_OF_ADDRESS 40 /* for an address that is not this host's: a proxy here speaks for many */
#define CONNECTIONS_OF_NETWORK 200 /* likewise, so that no network has them all */
#define CONNECTION_REQUEST_S 60  /* for a whole request, from its first byte to its last */

struct connection {
        struct connection *previous, *next; /* in the order in which they began to wait */
        int fd;
        uint64_t since_ns;               /* it waits for a request, or the end of one, since then */
        bool answering;                  /* the request is complete, so the client is not waited for */
        bool cut;
        struct peer peer;
};

struct connections {
        pthread_mutex_t mutex;
        struct connection first;         /* head of the list */
        unsigned n;
};

void connections_init(struct connections *connections);
void connections_clear(struct connections *connections);
/* A connection begins. NULL without memory: it is not counted. */
struct connection *connections_add(struct connections *connections, int fd, const struct peer *peer);
void connections_remove(struct connections *connections, struct connection *connection);
/* Its request is complete and will be answered, or it waits for the next one. NULL is nothing. */
void connections_answering(struct connections *connections, struct connection *connection, bool answering);
/* Cuts off requests that take too long. */
void connections_expire(struct connections *connections);
