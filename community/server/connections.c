/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "connections.h"
#include "util/util.h"

void connections_init(struct connections *connections)
{
        *connections = (struct connections){ .n = 0 };
        connections->first.previous = connections->first.next = &connections->first;
        pthread_mutex_init(&connections->mutex, NULL);
}

void connections_clear(struct connections *connections)
{
        while (connections->first.next != &connections->first)
                connections_remove(connections, connections->first.next);
        pthread_mutex_destroy(&connections->mutex);
}

static void put_last(struct connections *connections, struct connection *connection)
{
        connection->previous = connections->first.previous;
        connection->next = &connections->first;
        connection->previous->next = connection->next->previous = connection;
        connection->since_ns = util_boottime_ns();
}

static void take_out(struct connection *connection)
{
        connection->previous->next = connection->next;
        connection->next->previous = connection->previous;
}

/* The file descriptor stays open until the connection is removed, so it is not another's. */
static void cut(struct connection *connection)
{
        connection->cut = true;
        (void)shutdown(connection->fd, SHUT_RDWR);
}

static bool is_any(const struct peer *a, const struct peer *b)
{
        return true;
}

static bool same_address(const struct peer *a, const struct peer *b)
{
        return strcmp(a->address, b->address) == 0;
}

static bool same_network(const struct peer *a, const struct peer *b)
{
        return strcmp(a->network, b->network) == 0;
}

/* Cuts the one that waits longest of those that are @like @peer, if there are more than @most. */
static void cut_longest(struct connections *connections, const struct peer *peer,
                        bool (*like)(const struct peer *a, const struct peer *b), unsigned most)
{
        struct connection *longest = NULL;
        unsigned n = 0;

        for (struct connection *each = connections->first.next; each != &connections->first; each = each->next) {
                if (each->cut || !like(&each->peer, peer))
                        continue;
                n++;
                if (!longest && !each->answering)
                        longest = each;
        }
        if (n > most && longest)
                cut(longest);
}

struct connection *connections_add(struct connections *connections, int fd, const struct peer *peer)
{
        struct connection *connection = calloc(1, sizeof(*connection));

        if (!connection)
                return NULL;
        connection->fd = fd;
        connection->peer = *peer;
        pthread_mutex_lock(&connections->mutex);
        put_last(connections, connection);
        connections->n++;
        if (!peer->local) {
                cut_longest(connections, peer, same_address, CONNECTIONS_OF_ADDRESS);
                cut_longest(connections, peer, same_network, CONNECTIONS_OF_NETWORK);
        }
        if (connections->n > CONNECTIONS_MAX)
                cut_longest(connections, peer, is_any, CONNECTIONS_MAX);
        pthread_mutex_unlock(&connections->mutex);
        return connection;
}

void connections_remove(struct connections *connections, struct connection *connection)
{
        pthread_mutex_lock(&connections->mutex);
        take_out(connection);
        connections->n--;
        pthread_mutex_unlock(&connections->mutex);
        free(connection);
}

void connections_answering(struct connections *connections, struct connection *connection, bool answering)
{
        if (!connection)
                return;
        pthread_mutex_lock(&connections->mutex);
        connection->answering = answering;
        if (!answering) {
                take_out(connection);
                put_last(connections, connection);
        }
        pthread_mutex_unlock(&connections->mutex);
}

void connections_expire(struct connections *connections)
{
        uint64_t now_ns = util_boottime_ns();

        pthread_mutex_lock(&connections->mutex);
        for (struct connection *each = connections->first.next; each != &connections->first; each = each->next)
                if (!each->cut && !each->answering &&
                    now_ns - each->since_ns > CONNECTION_REQUEST_S * UINT64_C(1000000000))
                        cut(each);
        pthread_mutex_unlock(&connections->mutex);
}
