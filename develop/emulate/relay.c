/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "link.h"
#include "relay-private.h"
#include "util/util.h"

double relay_now_s(void)
{
        return (double)util_clock_ns(CLOCK_MONOTONIC) / 1e9;
}

/* Where the app's packets to @address go on this machine's network; 0: nowhere. */
static uint32_t relay_target(const struct relay *relay, uint32_t address)
{
        if ((address & 0xffff0000) == PACKET_HOST_LOCAL)
                return UINT32_C(127) << 24 | (address & 0xffff);
        /* Neither this network, nor multicast, nor what we use ourselves. */
        return !relay->plan.outside || address >> 24 == 0 || packet_is_loopback(address) || address >> 28 >= 14 ||
               address >> 17 == PACKET_APP >> 17 ? 0 : address;
}

int relay_connect(struct relay *relay, const struct packet_flow *flow, int type)
{
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(flow->to_port) };
        const int near = 64 << 10, far = 2 << 20;
        uint32_t target = relay_target(relay, flow->to);
        _cleanup_close_ int fd = -1;
        int got;

        if (!target)
                return -1;
        got = maker_socket(relay->plan.maker, type);
        relay->maker_gone |= got == -EPIPE;
        fd = got < 0 ? -1 : got;
        /*
         * A small receive buffer for loopback, so that bytes wait at the sender and not here; a large one for other
         * peers, which must be able to fill the link.
         */
        if (fd >= 0 && type == SOCK_STREAM)
                (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, packet_is_loopback(target) ? &near : &far, sizeof(near));
        to.sin_addr.s_addr = htonl(target);
        if (fd < 0 || (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS))
                return -1;
        return take_fd(&fd);
}

int relay_watch(struct relay *relay, struct end *end, uint32_t events)
{
        struct epoll_event event = { .events = events, .data.ptr = end };

        if (end->events == events && events)
                return 0;
        end->epoll = relay->epoll;
        end->watched = true;
        if (epoll_ctl(relay->epoll, EPOLL_CTL_MOD, end->fd, &event) < 0 &&
            (errno != ENOENT || epoll_ctl(relay->epoll, EPOLL_CTL_ADD, end->fd, &event) < 0))
                return -errno;
        end->events = events;
        return 0;
}

void relay_close(struct end *end)
{
        if (end->watched) /* closing is not enough while the process that made the socket has it open, too */
                (void)epoll_ctl(end->epoll, EPOLL_CTL_DEL, end->fd, NULL);
        end->watched = false;
        closep(&end->fd);
        end->fd = -1;
}

bool relay_same_flow(const struct packet_flow *a, const struct packet_flow *b)
{
        return a->from == b->from && a->to == b->to && a->from_port == b->from_port && a->to_port == b->to_port;
}

int relay_new(const struct relay_plan *plan, struct relay **ret)
{
        struct relay *relay = calloc(1, sizeof(*relay));
        int err;

        if (!relay)
                return -ENOMEM;
        relay->plan = *plan;
        relay->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (relay->epoll < 0) {
                err = -errno;
                free(relay);
                return err;
        }
        *ret = relay;
        return 0;
}

void relay_free(struct relay *relay)
{
        if (!relay)
                return;
        tcp_tidy(relay, true);
        udp_tidy(relay, true);
        host_forget(relay);
        close(relay->epoll);
        free(relay);
}

void relay_flush(struct relay *relay)
{
        udp_flush(relay);
}

int relay_fd(const struct relay *relay)
{
        return relay->epoll;
}

int relay_work(struct relay *relay)
{
        struct epoll_event events[64];
        int n = epoll_wait(relay->epoll, events, ARRAY_SIZE(events), 0);

        for (int i = 0; i < n; i++) {
                struct end *end = events[i].data.ptr;

                if (end->fd < 0)
                        continue;
                if (end->kind == END_FLOW)
                        udp_ready(relay, end);
                else
                        tcp_ready(relay, end, events[i].events);
        }
        /* Not before, as later events may be of what one of them ended. */
        tcp_tidy(relay, false);
        udp_tidy(relay, false);
        return relay->maker_gone ? -EPIPE : 0;
}

int relay_packet(struct relay *relay, const uint8_t *bytes, size_t length)
{
        struct packet packet;
        bool go = true;

        if (!packet_read(bytes, length, &packet))
                return 0;
        if (packet.opens)
                go = tcp_packet(relay, &packet.flow, bytes, length);
        else if (packet.first && packet.flow.protocol == IPPROTO_UDP)
                go = udp_packet(relay, &packet.flow, bytes, length);
        if (go && link_send(relay->plan.tun, bytes, length) < 0 && errno == EBADFD)
                return -EPIPE;
        return relay->maker_gone ? -EPIPE : 0;
}
