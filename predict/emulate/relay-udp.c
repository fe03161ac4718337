/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP of a relay (relay.h): a pair of connected sockets for each flow. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay-private.h"
#include "util/util.h"

#define RECEIVED_BYTES (1 << 20) /* that may wait; the kernel allows less */
#define AT_ONCE 32

static struct flow *find_flow(struct relay *relay, const struct packet_flow *flow)
{
        for (size_t i = 0; i < relay->n_flows; i++)
                if (!relay->flows[i]->over && relay_same_flow(&relay->flows[i]->flow, flow))
                        return relay->flows[i];
        return NULL;
}

static void end_flow(struct flow *flow)
{
        relay_close(&flow->ends[SIDE_APP]);
        relay_close(&flow->ends[SIDE_HOST]);
        flow->over = true;
}

/* A socket of the middle that has the address which the app sends to, and hears this sender alone. */
static int middle_socket(const struct packet_flow *flow)
{
        struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(flow->to_port),
                                    .sin_addr.s_addr = htonl(flow->to) };
        struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(flow->from_port),
                                     .sin_addr.s_addr = htonl(flow->from) };
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const int on = 1, bytes = RECEIVED_BYTES;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
            bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0 || connect(fd, (struct sockaddr *)&there, sizeof(there)) < 0)
                return -1;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        return take_fd(&fd);
}

static void free_flow(struct flow *flow)
{
        end_flow(flow);
        free(flow);
}

/* The one that was used longest ago gives way. */
static void make_room(struct relay *relay)
{
        size_t oldest = 0;

        if (relay->n_flows < RELAY_FLOWS_MAX)
                return;
        for (size_t i = 1; i < relay->n_flows; i++)
                if (relay->flows[i]->used_s < relay->flows[oldest]->used_s)
                        oldest = i;
        /* It may have an event that is still to come, so it is freed later. */
        end_flow(relay->flows[oldest]);
        udp_tidy(relay, false);
}

bool udp_packet(struct relay *relay, const struct packet_flow *packet)
{
        struct flow *flow = find_flow(relay, packet);
        const int bytes = RECEIVED_BYTES;

        if (flow) {
                flow->used_s = relay_now_s();
                return true;
        }
        make_room(relay);
        flow = calloc(1, sizeof(*flow));
        if (!flow)
                return false;
        flow->flow = *packet;
        flow->used_s = relay_now_s();
        for (int side = 0; side < SIDES; side++)
                flow->ends[side] = (struct end){ .kind = END_FLOW, .side = side, .fd = -1, .owner = flow };
        flow->ends[SIDE_HOST].fd = relay_connect(relay, packet, SOCK_DGRAM);
        flow->ends[SIDE_APP].fd = middle_socket(packet);
        if (flow->ends[SIDE_HOST].fd < 0 || flow->ends[SIDE_APP].fd < 0 ||
            relay_watch(relay, &flow->ends[SIDE_HOST], EPOLLIN) < 0 || relay_watch(relay, &flow->ends[SIDE_APP], EPOLLIN) < 0) {
                free_flow(flow);
                return true; /* the middle's kernel says that nobody is there */
        }
        (void)setsockopt(flow->ends[SIDE_HOST].fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        relay->flows[relay->n_flows++] = flow;
        return true;
}

void udp_ready(struct relay *relay, struct end *end)
{
        struct flow *flow = end->owner;

        flow->used_s = relay_now_s();
        for (int i = 0; i < AT_ONCE; i++) {
                ssize_t n = recv(end->fd, relay->datagram, sizeof(relay->datagram), 0);

                if (n < 0 && (errno == EAGAIN || errno == EINTR))
                        return;
                /* Nobody listens: whoever sends again gets new sockets. Datagrams that do not fit are lost. */
                if (n < 0 || (send(flow->ends[!end->side].fd, relay->datagram, (size_t)n, MSG_NOSIGNAL) < 0 &&
                              errno == ECONNREFUSED)) {
                        end_flow(flow);
                        return;
                }
        }
}

void udp_tidy(struct relay *relay, bool all)
{
        double now_s = relay_now_s();
        size_t kept = 0;

        for (size_t i = 0; i < relay->n_flows; i++) {
                struct flow *flow = relay->flows[i];

                if (all || flow->over || now_s - flow->used_s > RELAY_IDLE_S)
                        free_flow(flow);
                else
                        relay->flows[kept++] = flow;
        }
        relay->n_flows = kept;
}
