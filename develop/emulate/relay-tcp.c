/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP of a relay (relay.h). */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"
#include "relay-private.h"
#include "util/util.h"

#define UNSENT_BYTES (128 << 10) /* in the app's side: more would wait here in place of with the sender */

static void connection_free(struct connection *connection)
{
        for (int side = 0; side < SIDES; side++) {
                relay_close(&connection->ends[side]);
                free(connection->streams[side].bytes);
        }
        free(connection->syn);
        free(connection);
}

static struct listener *find_listener(struct relay *relay, const struct packet_flow *flow)
{
        for (size_t i = 0; i < ARRAY_SIZE(relay->listeners); i++) {
                struct listener *listener = &relay->listeners[i];

                if (listener->users && listener->address == flow->to && listener->port == flow->to_port)
                        return listener;
        }
        return NULL;
}

static void leave_listener(struct relay *relay, const struct packet_flow *flow)
{
        struct listener *listener = find_listener(relay, flow);

        if (listener && --listener->users == 0)
                relay_close(&listener->end);
}

/* One more connection that may be accepted there. 0 or a negative errno. */
static int use_listener(struct relay *relay, const struct packet_flow *flow)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(flow->to_port),
                                       .sin_addr.s_addr = htonl(flow->to) };
        struct listener *listener = find_listener(relay, flow);
        const int on = 1;

        if (listener) {
                listener->users++;
                return 0;
        }
        for (listener = relay->listeners; listener->users; listener++)
                ; /* as many as connections */
        listener->end = (struct end){ .kind = END_LISTENER, .side = SIDE_APP, .fd = -1, .owner = listener };
        listener->end.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        listener->address = flow->to;
        listener->port = flow->to_port;
        if (listener->end.fd < 0 || setsockopt(listener->end.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
            bind(listener->end.fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(listener->end.fd, RELAY_CONNECTIONS_MAX) < 0 || relay_watch(relay, &listener->end, EPOLLIN) < 0) {
                relay_close(&listener->end);
                return -EIO;
        }
        listener->users = 1;
        return 0;
}

static void end_connection(struct relay *relay, struct connection *connection)
{
        if (connection->state == CONNECTION_OPENED)
                leave_listener(relay, &connection->flow);
        for (int side = 0; side < SIDES; side++)
                relay_close(&connection->ends[side]);
        connection->state = CONNECTION_OVER;
}

/* Both sides see that it broke. */
static void break_connection(struct relay *relay, struct connection *connection)
{
        const struct linger now = { 1, 0 };

        for (int side = 0; side < SIDES; side++)
                if (connection->ends[side].fd >= 0)
                        (void)setsockopt(connection->ends[side].fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        end_connection(relay, connection);
}

static struct connection *find_connection(struct relay *relay, const struct packet_flow *flow)
{
        for (size_t i = 0; i < relay->n_connections; i++)
                if (relay->connections[i]->state != CONNECTION_OVER &&
                    relay_same_flow(&relay->connections[i]->flow, flow))
                        return relay->connections[i];
        return NULL;
}

bool tcp_packet(struct relay *relay, const struct packet_flow *flow, const uint8_t *bytes, size_t length)
{
        struct connection *connection = find_connection(relay, flow);

        if (connection) /* sent again */
                return connection->state != CONNECTION_ASKED;
        if (relay->n_connections == RELAY_CONNECTIONS_MAX)
                return false;
        connection = calloc(1, sizeof(*connection));
        if (!connection)
                return false;
        for (int side = 0; side < SIDES; side++)
                connection->ends[side] =
                        (struct end){ .kind = END_CONNECTION, .side = side, .fd = -1, .owner = connection };
        connection->flow = *flow;
        connection->since_s = relay_now_s();
        connection->early = host_find(relay, flow->to) == NULL;
        connection->ends[SIDE_HOST].fd = relay_connect(relay, flow, SOCK_STREAM);
        connection->syn = malloc(length);
        if (connection->ends[SIDE_HOST].fd < 0 || !connection->syn ||
            relay_watch(relay, &connection->ends[SIDE_HOST], EPOLLOUT) < 0) {
                connection_free(connection);
                return true; /* nobody listens in the middle, whose kernel refuses it */
        }
        memcpy(connection->syn, bytes, length);
        connection->syn_length = length;
        relay->connections[relay->n_connections++] = connection;
        return false;
}

/* The machine's side of it is there, or is not. */
static void connected(struct relay *relay, struct connection *connection)
{
        struct end *end = &connection->ends[SIDE_HOST];
        socklen_t size = sizeof(int);
        int err = 0;

        if (getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &err, &size) < 0)
                err = errno;
        if (err == 0)
                host_learn(relay, connection);
        if (err == 0 && use_listener(relay, &connection->flow) == 0 && relay_watch(relay, end, 0) == 0)
                connection->state = CONNECTION_OPENED;
        else
                end_connection(relay, connection);
        /* Lost like any packet where it fails. */
        (void)link_send(relay->plan.tun, connection->syn, connection->syn_length);
}

static void set_options(int app, int host)
{
        const int on = 1, unsent = UNSENT_BYTES;

        (void)setsockopt(app, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        (void)setsockopt(app, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
        (void)setsockopt(host, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void watch_streams(struct relay *relay, struct connection *connection)
{
        for (int side = 0; side < SIDES; side++) {
                const struct stream *out = &connection->streams[!side], *in = &connection->streams[side];
                uint32_t events = (!in->ended && in->start == in->end ? EPOLLIN : 0) |
                                  (out->start < out->end ? EPOLLOUT : 0);

                if (connection->state == CONNECTION_JOINED && relay_watch(relay, &connection->ends[side], events) < 0)
                        break_connection(relay, connection);
        }
}

static void accept_one(struct relay *relay, struct listener *listener)
{
        struct sockaddr_in from;
        socklen_t size = sizeof(from);
        _cleanup_close_ int fd =
                accept4(listener->end.fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct packet_flow flow = { ntohl(from.sin_addr.s_addr), listener->address, ntohs(from.sin_port),
                                    listener->port, IPPROTO_TCP };
        struct connection *connection;

        if (fd < 0)
                return;
        connection = find_connection(relay, &flow);
        if (!connection || connection->state != CONNECTION_OPENED)
                return;
        for (int side = 0; side < SIDES; side++)
                connection->streams[side].bytes = malloc(RELAY_BUFFER);
        if (!connection->streams[SIDE_APP].bytes || !connection->streams[SIDE_HOST].bytes)
                return;
        set_options(fd, connection->ends[SIDE_HOST].fd);
        connection->ends[SIDE_APP].fd = take_fd(&fd);
        connection->state = CONNECTION_JOINED;
        leave_listener(relay, &flow);
        watch_streams(relay, connection);
}

/* Reads what fits, and writes it on. 0; a negative errno: the connection broke. */
static int pump(struct connection *connection, int side)
{
        struct stream *stream = &connection->streams[side];
        int from = connection->ends[side].fd, to = connection->ends[!side].fd;
        ssize_t n;

        if (stream->start == stream->end && !stream->ended) {
                n = read(from, stream->bytes, RELAY_BUFFER);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                stream->ended = n == 0;
                stream->start = 0;
                stream->end = (size_t)n;
        }
        if (stream->start < stream->end) {
                n = send(to, stream->bytes + stream->start, stream->end - stream->start, MSG_NOSIGNAL);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                stream->start += (size_t)n;
        }
        if (stream->ended && stream->start == stream->end && !stream->told) {
                stream->told = true;
                if (shutdown(to, SHUT_WR) < 0)
                        return -errno;
        }
        return 0;
}

void tcp_ready(struct relay *relay, struct end *end, uint32_t events)
{
        struct connection *connection = end->owner;

        if (end->kind == END_LISTENER) {
                accept_one(relay, end->owner);
                return;
        }
        if (connection->state == CONNECTION_ASKED) {
                connected(relay, connection);
                return;
        }
        if (connection->state == CONNECTION_OPENED) { /* the machine's side ended or broke before the app was there */
                if (events & EPOLLERR)
                        break_connection(relay, connection);
                else
                        (void)epoll_ctl(relay->epoll, EPOLL_CTL_DEL, end->fd, NULL);
                return;
        }
        if (connection->state != CONNECTION_JOINED)
                return;
        host_learn(relay, connection);
        if (events & EPOLLIN)
                host_slow_before(relay, connection, end->side);
        if (pump(connection, SIDE_APP) < 0 || pump(connection, SIDE_HOST) < 0)
                break_connection(relay, connection);
        else if (connection->streams[SIDE_APP].told && connection->streams[SIDE_HOST].told)
                end_connection(relay, connection);
        else {
                host_slow_after(relay, connection);
                watch_streams(relay, connection);
        }
}

void tcp_tidy(struct relay *relay, bool all)
{
        double now_s = relay_now_s();
        size_t kept = 0;

        for (size_t i = 0; i < relay->n_connections; i++) {
                struct connection *connection = relay->connections[i];

                if (all || (connection->state < CONNECTION_JOINED && now_s - connection->since_s > RELAY_OPEN_S))
                        break_connection(relay, connection);
                if (connection->state == CONNECTION_OVER)
                        connection_free(connection);
                else
                        relay->connections[kept++] = connection;
        }
        relay->n_connections = kept;
}
