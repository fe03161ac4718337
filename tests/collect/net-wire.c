/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "net-wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/util.h"

/* By its index `packets` knows it, which must not be one of a WiFi interface outside. */
bool net_wire_make(pid_t peer)
{
        char command[768];

        snprintf(command, sizeof(command),
                 "ip link set lo up && ip link add wire0 index 1001 type veth peer name wire1 netns %d && "
                 "ip addr add " HERE "/24 dev wire0 && ip addr add " HERE_6 "/64 dev wire0 nodad && "
                 "ip link set wire0 up && ip route add default via " THERE " && "
                 "nsenter -t %d -n sh -c 'ip link set lo up; ip addr add " THERE "/24 dev wire1; "
                 "ip addr add " THERE_6 "/64 dev wire1 nodad; ip link set wire1 up'",
                 (int)peer, (int)peer);
        return system(command) == 0;
}

struct sockaddr_in address(const char *host, uint16_t port)
{
        struct sockaddr_in ret = { .sin_family = AF_INET, .sin_port = htons(port) };

        inet_pton(AF_INET, host, &ret.sin_addr);
        return ret;
}

int listen_at(const char *host, uint16_t port, int type)
{
        struct sockaddr_in at = address(host, port);
        int fd = socket(AF_INET, type, 0), yes = 1;

        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                exit(1);
        if (type == SOCK_STREAM)
                listen(fd, 1024);
        return fd;
}

int connect_to(const char *host, uint16_t port, int type)
{
        struct sockaddr_in at = address(host, port);
        int fd = socket(AF_INET, type, 0);

        for (int i = 0; connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 && i < 100; i++)
                usleep(10000);
        return fd;
}

void write_all(int fd, size_t n)
{
        static char block[16384];

        while (n > 0) {
                ssize_t sent = send(fd, block, MIN(n, sizeof(block)), MSG_NOSIGNAL);

                if (sent <= 0)
                        return;
                n -= (size_t)sent;
        }
}

void read_all(int fd, int flags)
{
        char block[16384];

        while (recv(fd, block, sizeof(block), flags) > 0)
                ;
}

static void echo_datagrams(int fd)
{
        for (;;) {
                struct sockaddr_storage from;
                socklen_t length = sizeof(from);
                char block[2048];
                ssize_t n = recvfrom(fd, block, sizeof(block), 0, (struct sockaddr *)&from, &length);

                if (n > 0)
                        sendto(fd, block, (size_t)n, 0, (struct sockaddr *)&from, length);
        }
}

static void swallow(int listener)
{
        for (;;) {
                int fd = accept(listener, NULL, NULL);

                read_all(fd, 0);
                close(fd);
        }
}

static void give(int listener, size_t bytes)
{
        for (;;) {
                int fd = accept(listener, NULL, NULL);

                write_all(fd, bytes);
                if (bytes == BYTES_UNREAD)
                        read_all(fd, 0); /* until the other side closes */
                close(fd);
        }
}

/* Connects to each sender of a datagram, sends 3000 bytes and reads everything. */
static void call_back(int fd)
{
        for (;;) {
                char block[3000] = { 0 };
                int connection;

                if (recv(fd, block, sizeof(block), 0) < 0)
                        continue;
                connection = connect_to(HERE, 7011, SOCK_STREAM);
                write_all(connection, sizeof(block));
                read_all(connection, 0);
                close(connection);
        }
}

static int listen_at_6(uint16_t port)
{
        struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
        int fd = socket(AF_INET6, SOCK_DGRAM, 0);

        if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                exit(1);
        return fd;
}

/* True in a child, which ends when we do. */
static bool fork_with_us(void)
{
        if (fork() != 0)
                return false;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return true;
}

void net_wire_be_peer(void)
{
        int sink = listen_at("0.0.0.0", 7001, SOCK_STREAM), all = listen_at("0.0.0.0", 7002, SOCK_STREAM);
        int echo = listen_at("0.0.0.0", 7003, SOCK_DGRAM), some = listen_at("0.0.0.0", 7004, SOCK_STREAM);
        int asked = listen_at("0.0.0.0", 7005, SOCK_DGRAM), echo_6 = listen_at_6(7006);

        if (fork_with_us())
                swallow(sink);
        if (fork_with_us())
                give(all, BYTES);
        if (fork_with_us())
                give(some, BYTES_UNREAD);
        if (fork_with_us())
                call_back(asked);
        if (fork_with_us())
                echo_datagrams(echo_6);
        echo_datagrams(echo);
}
