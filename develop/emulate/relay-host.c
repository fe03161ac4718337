/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far peers of a relay (relay.h) are from this machine, as the kernel saw it when a connection was
 * made; and for how long they were slower than the emulated link.
 */

#include <netinet/in.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "relay-private.h"
#include "util/units.h"
#include "util/util.h"

#define LEARN_S 0.1 /* least interval at which a connection's round trip is read */
#define PAUSE_S 0.5 /* longer gaps between bytes that come are pauses of the server, and not counted */

struct host *host_find(const struct relay *relay, uint32_t address)
{
        struct host *host;

        HASH_FIND(hh, relay->hosts, &address, sizeof(address), host);
        return host;
}

void host_forget(struct relay *relay)
{
        struct host *host, *next;

        HASH_ITER(hh, relay->hosts, host, next) {
                HASH_DEL(relay->hosts, host);
                free(host);
        }
}

/* Least round trip of a connection so far, in ns; -1: the kernel does not tell. */
static int64_t round_of(int fd)
{
        struct tcp_info info = { .tcpi_min_rtt = UINT32_MAX };
        socklen_t size = sizeof(info);

        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
                return -1;
        return (int64_t)MIN(info.tcpi_rtt, info.tcpi_min_rtt) * (int64_t)NS_PER_US;
}

void host_learn(struct relay *relay, struct connection *connection)
{
        double now_s = relay_now_s();
        bool first = connection->learnt_s <= 0;
        struct host *host;
        int64_t round_ns;

        if (now_s - connection->learnt_s < LEARN_S)
                return;
        connection->learnt_s = now_s;
        host = host_find(relay, connection->flow.to);
        round_ns = round_of(connection->ends[SIDE_HOST].fd);
        if (round_ns < 0)
                return;
        if (!host && HASH_COUNT(relay->hosts) < RELAY_HOSTS_MAX && (host = calloc(1, sizeof(*host)))) {
                host->address = connection->flow.to;
                host->round_ns = round_ns;
                HASH_ADD(hh, relay->hosts, address, sizeof(host->address), host);
        }
        if (!host)
                return;
        host->round_ns = MIN(host->round_ns, round_ns);
        host->owed += first && connection->early;
}

int64_t relay_host_ns(struct relay *relay, uint32_t address, bool accepts)
{
        struct host *host = host_find(relay, address);

        if (!host)
                return 0;
        if (!accepts || !host->owed)
                return host->round_ns / 2;
        host->owed--;
        return host->round_ns;
}

/* Has the middle's TCP sent all that came for the app? Then the link could carry more than comes. */
static bool starves(const struct connection *connection)
{
        const struct stream *stream = &connection->streams[SIDE_HOST];
        int unsent;

        return stream->start == stream->end &&
               ioctl(connection->ends[SIDE_APP].fd, SIOCOUTQNSD, &unsent) == 0 && unsent == 0;
}

void host_slow_before(struct relay *relay, struct connection *connection, int side)
{
        double now_s = relay_now_s();

        if (side == SIDE_APP) { /* the next bytes may be an answer to these, so a pause before them is no slowness */
                connection->came_s = 0;
                return;
        }
        if (connection->came_s > 0 && now_s - connection->came_s < PAUSE_S && starves(connection))
                relay->plan.slow->ns[RADIO_RX] += (int64_t)((now_s - connection->came_s) * NS_PER_S);
        connection->came_s = now_s;
}

void host_slow_after(struct relay *relay, struct connection *connection)
{
        const struct stream *stream = &connection->streams[SIDE_APP];
        bool blocked = stream->start < stream->end;
        double now_s;

        if (blocked == (connection->blocked_s > 0))
                return;
        now_s = relay_now_s();
        if (!blocked)
                relay->plan.slow->ns[RADIO_TX] += (int64_t)((now_s - connection->blocked_s) * NS_PER_S);
        connection->blocked_s = blocked ? now_s : 0;
}
