/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UDP of a relay (relay.h): a pair of connected sockets for each flow. Datagrams in one packet go from the
 * link to the machine's side and back at once; the middle's kernel puts fragments together, makes them, and
 * says that nobody is there.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay-private.h"
#include "util/util.h"

#define RECEIVED_BYTES (4 << 20) /* that may wait; the kernel allows less where the user is not root */
#define SEGMENTS_MAX 64 /* that the kernel takes at once */

static void let_wait(int fd)
{
        const int bytes = RECEIVED_BYTES;

        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

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
        const int on = 1;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
            bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0 ||
            connect(fd, (struct sockaddr *)&there, sizeof(there)) < 0)
                return -1;
        let_wait(fd);
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

/* NULL: nobody is there. */
static struct flow *make_flow(struct relay *relay, const struct packet_flow *packet)
{
        struct flow *flow = calloc(1, sizeof(*flow));

        if (!flow)
                return NULL;
        flow->flow = *packet;
        for (int side = 0; side < SIDES; side++)
                flow->ends[side] = (struct end){ .kind = END_FLOW, .side = side, .fd = -1, .owner = flow };
        flow->ends[SIDE_HOST].fd = relay_connect(relay, packet, SOCK_DGRAM);
        flow->ends[SIDE_APP].fd = middle_socket(packet);
        if (flow->ends[SIDE_HOST].fd < 0 || flow->ends[SIDE_APP].fd < 0 ||
            relay_watch(relay, &flow->ends[SIDE_HOST], EPOLLIN) < 0 ||
            relay_watch(relay, &flow->ends[SIDE_APP], EPOLLIN) < 0) {
                free_flow(flow);
                return NULL;
        }
        let_wait(flow->ends[SIDE_HOST].fd);
        return flow;
}

/* Nobody listens: whoever sends again gets new sockets. Datagrams that do not fit are lost. */
static void send_on(struct flow *flow, int side, const uint8_t *bytes, size_t length)
{
        if (!flow->over && send(flow->ends[side].fd, bytes, length, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
                end_flow(flow);
}

/* The kernel parts them. False: not on this way, such as one with small packets. */
static bool send_together(const struct bundle *bundle)
{
        union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(sizeof(uint16_t))];
        } control = { 0 };
        struct iovec iovec = { (void *)bundle->bytes, bundle->length };
        struct msghdr message = { .msg_iov = &iovec, .msg_iovlen = 1, .msg_control = &control,
                                  .msg_controllen = sizeof(control.bytes) };
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        uint16_t each = (uint16_t)bundle->each;

        header->cmsg_level = SOL_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(each));
        memcpy(CMSG_DATA(header), &each, sizeof(each));
        if (sendmsg(bundle->flow->ends[SIDE_HOST].fd, &message, MSG_NOSIGNAL) >= 0)
                return true;
        if (errno == ECONNREFUSED)
                end_flow(bundle->flow);
        return errno == ECONNREFUSED || errno == EAGAIN || errno == ENOBUFS;
}

void udp_flush(struct relay *relay)
{
        struct bundle *bundle = &relay->bundle;

        if (!bundle->flow)
                return;
        if (bundle->flow->over || (bundle->n > 1 && send_together(bundle))) {
                bundle->flow = NULL;
                return;
        }
        for (size_t i = 0; i < bundle->n; i++)
                send_on(bundle->flow, SIDE_HOST, bundle->bytes + i * bundle->each,
                        MIN(bundle->each, bundle->length - i * bundle->each));
        bundle->flow = NULL;
}

static void add_to_bundle(struct relay *relay, struct flow *flow, const uint8_t *bytes, size_t length)
{
        struct bundle *bundle = &relay->bundle;

        if (bundle->flow != flow || length > bundle->each || bundle->length < bundle->n * bundle->each ||
            bundle->n == SEGMENTS_MAX || bundle->length + length > PACKET_MAX - PACKET_DATAGRAM_HEAD - 1)
                udp_flush(relay);
        if (!bundle->flow) {
                bundle->flow = flow;
                bundle->each = length;
                bundle->n = bundle->length = 0;
        }
        memcpy(bundle->bytes + bundle->length, bytes, length);
        bundle->length += length;
        bundle->n++;
}

bool udp_packet(struct relay *relay, const struct packet_flow *packet, const uint8_t *bytes, size_t length)
{
        struct flow *flow = find_flow(relay, packet);
        size_t start, carried;

        if (!flow) {
                make_room(relay);
                flow = make_flow(relay, packet);
                if (!flow)
                        return true; /* the middle's kernel says that nobody is there */
                relay->flows[relay->n_flows++] = flow;
        }
        flow->used_s = relay_now_s();
        if (!packet_datagram(bytes, length, &start, &carried))
                return true;
        add_to_bundle(relay, flow, bytes + start, carried);
        return false;
}

/* To the app: what fits into a packet is one already, and the middle's kernel makes fragments of the rest. */
static void receive(struct relay *relay, struct end *end, uint8_t *packet, size_t length)
{
        struct flow *flow = end->owner;
        const struct packet_flow back = { flow->flow.to, flow->flow.from, flow->flow.to_port, flow->flow.from_port,
                                          flow->flow.protocol };

        if (end->side == SIDE_APP || length > PACKET_MTU - PACKET_DATAGRAM_HEAD) {
                send_on(flow, !end->side, packet + PACKET_DATAGRAM_HEAD, length);
                return;
        }
        packet_datagram_head(&back, length, packet);
        relay->plan.received(relay->plan.context, packet, length + PACKET_DATAGRAM_HEAD);
}

void udp_ready(struct relay *relay, struct end *end)
{
        struct flow *flow = end->owner;
        struct mmsghdr messages[RELAY_AT_ONCE] = { 0 };
        struct iovec iovecs[RELAY_AT_ONCE];
        int n;

        flow->used_s = relay_now_s();
        for (int i = 0; i < RELAY_AT_ONCE; i++) {
                iovecs[i] = (struct iovec){ relay->datagrams[i] + PACKET_DATAGRAM_HEAD,
                                            PACKET_MAX - PACKET_DATAGRAM_HEAD };
                messages[i].msg_hdr.msg_iov = &iovecs[i];
                messages[i].msg_hdr.msg_iovlen = 1;
        }
        n = recvmmsg(end->fd, messages, RELAY_AT_ONCE, MSG_DONTWAIT, NULL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
                end_flow(flow);
        for (int i = 0; i < n; i++)
                receive(relay, end, relay->datagrams[i], messages[i].msg_len);
}

void udp_tidy(struct relay *relay, bool all)
{
        double now_s = relay_now_s();
        size_t kept = 0;

        for (size_t i = 0; i < relay->n_flows; i++) {
                struct flow *flow = relay->flows[i];

                if (all || flow->over || now_s - flow->used_s > RELAY_IDLE_S) {
                        if (relay->bundle.flow == flow)
                                relay->bundle.flow = NULL;
                        free_flow(flow);
                } else {
                        relay->flows[kept++] = flow;
                }
        }
        relay->n_flows = kept;
}
