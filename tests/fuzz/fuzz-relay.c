/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The relay of `emulate` in a network namespace of its own: any packets of the app, its connections, and a peer on the
 * loopback that echoes. The input is a list of steps.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "emulate/link.h"
#include "emulate/packet.h"
#include "emulate/relay.h"
#include "fuzz.h"
#include "invention.h"
#include "util/util.h"

#define PEER_PORT 7
#define APP_PORT 1024
#define APP_SOCKETS 4
#define HEADS 40 /* bytes of the headers of IP and TCP */

struct world {
        struct relay *relay;
        int listener, datagrams; /* the peer's */
        int accepted;            /* -1: none */
        int app[APP_SOCKETS];    /* sockets of the app; -1: unused */
};

static struct sockaddr_in address_of(uint32_t address, uint16_t port)
{
        return (struct sockaddr_in){
                .sin_family = AF_INET,
                .sin_port = htons(port),
                .sin_addr.s_addr = htonl(address),
        };
}

static int bound_socket(int type, uint32_t address, uint16_t port)
{
        struct sockaddr_in here = address_of(address, port);
        const struct linger reset = { .l_onoff = 1 };
        const int on = 1;
        int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        fuzz_assert(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
        fuzz_assert(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0); /* no TIME_WAIT */
        fuzz_assert(bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0);
        return fd;
}

/* The app's socket of that place, which goes to the peer or to a port where nobody listens. */
static int app_socket(int type, unsigned place, uint16_t port)
{
        struct sockaddr_in there = address_of(PACKET_HOST_LOCAL + 1, port);
        int fd = bound_socket(type, PACKET_APP, (uint16_t)(APP_PORT + place));

        (void)connect(fd, (struct sockaddr *)&there, sizeof(there));
        return fd;
}

static void echo(struct world *world)
{
        struct sockaddr_in from;
        socklen_t length = sizeof(from);
        char bytes[2048];
        ssize_t n = recvfrom(world->datagrams, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &length);

        if (n >= 0)
                (void)!sendto(world->datagrams, bytes, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&from, length);
        if (world->accepted < 0)
                world->accepted = accept4(world->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        n = world->accepted < 0 ? -1 : recv(world->accepted, bytes, sizeof(bytes), 0);
        if (n > 0)
                (void)!send(world->accepted, bytes, (size_t)n, MSG_NOSIGNAL);
        if (n == 0) {
                close(world->accepted);
                world->accepted = -1;
        }
}

static void on_received(void *context, const uint8_t *bytes, size_t length)
{
        struct packet packet;

        fuzz_assert(length <= PACKET_MTU && packet_read(bytes, length, &packet));
}

/* The first packet of a connection; its checksums are not looked at. */
static size_t make_syn(const struct packet_flow *flow, uint8_t bytes[HEADS])
{
        struct tcphdr head = { .source = htons(flow->from_port), .dest = htons(flow->to_port), .doff = 5, .syn = 1 };

        packet_datagram_head(flow, HEADS - PACKET_DATAGRAM_HEAD, bytes);
        bytes[9] = IPPROTO_TCP;
        memcpy(bytes + HEADS - sizeof(head), &head, sizeof(head));
        return HEADS;
}

static void send_packet(struct world *world, struct invention *from, uint8_t kind)
{
        struct packet_flow flow = { PACKET_APP, PACKET_HOST_LOCAL + 1, 0, PEER_PORT, IPPROTO_UDP };
        uint8_t bytes[PACKET_MTU] = { 0 };
        size_t length = (size_t)take(from) * 5;

        flow.from_port = (uint16_t)(APP_PORT + take(from) % (2 * APP_SOCKETS));
        if (take(from) % 8 == 0)
                flow.to_port = take(from);
        if (kind == 0) {
                for (size_t i = 0; i < length; i++)
                        bytes[i] = take(from);
        } else if (kind == 1) {
                packet_datagram_head(&flow, length, bytes);
                length += PACKET_DATAGRAM_HEAD;
        } else {
                flow.protocol = IPPROTO_TCP;
                length = make_syn(&flow, bytes);
        }
        fuzz_assert(relay_packet(world->relay, bytes, length) == 0);
}

static void step(struct world *world, struct invention *from)
{
        static const char text[1400];
        uint8_t kind = take(from);
        unsigned place = kind / 16 % APP_SOCKETS;
        int *app = &world->app[place];

        switch (kind % 8) {
        case 3:
                if (*app < 0)
                        *app = app_socket(kind & 128 ? SOCK_STREAM : SOCK_DGRAM, place, kind & 8 ? PEER_PORT : 9);
                break;
        case 4:
                if (*app >= 0)
                        (void)!send(*app, text, (size_t)take(from) * 5, MSG_NOSIGNAL);
                break;
        case 5:
                closep(app);
                *app = -1;
                break;
        case 6:
                echo(world);
                break;
        case 7:
                relay_flush(world->relay);
                fuzz_assert(relay_work(world->relay) == 0);
                (void)relay_host_ns(world->relay, PACKET_HOST_LOCAL + 1, take(from) & 1);
                break;
        default:
                send_packet(world, from, kind % 8);
        }
}

/* False: this user may not have a network namespace. */
static bool leave_network(void)
{
        if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
                return false;
        return link_up("lo") == 0 && link_address("lo", PACKET_APP, 15) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct world world = { .accepted = -1 };
        static int maker = -1, nowhere = -1;
        static enum { NEW, READY, REFUSED } state;
        struct invention from = { data, size, 0 };
        struct relay_slow slow = { { 0 } };
        struct relay_plan plan = { .outside = true, .received = on_received, .slow = &slow };

        if (state == NEW) {
                state = leave_network() ? READY : REFUSED;
                if (state == REFUSED)
                        puts("not checked: no network namespace can be made");
                else
                        fuzz_assert(maker_start(&maker) > 0);
                nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        }
        if (state == REFUSED)
                return 0;
        plan.maker = maker;
        plan.tun = nowhere;
        world.listener = bound_socket(SOCK_STREAM, PACKET_LOCALHOST, PEER_PORT);
        world.datagrams = bound_socket(SOCK_DGRAM, PACKET_LOCALHOST, PEER_PORT);
        fuzz_assert(listen(world.listener, 8) == 0);
        for (int i = 0; i < APP_SOCKETS; i++)
                world.app[i] = -1;
        fuzz_assert(relay_new(&plan, &world.relay) == 0);
        while (from.at < from.size)
                step(&world, &from);
        for (int i = 0; i < APP_SOCKETS; i++)
                closep(&world.app[i]);
        relay_free(world.relay);
        closep(&world.accepted);
        world.accepted = -1;
        close(world.listener);
        close(world.datagrams);
        return 0;
}
