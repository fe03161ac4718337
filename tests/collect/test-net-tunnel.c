/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bytes through a VPN belong to the app, are sent over the interface that carries the outer packets, and count once.
 * The VPN is a tun device in each of two network namespaces, and a process at each end that sends the packets of its
 * device to the other one as datagrams over the wire; and wireguard, if the kernel and the tool are there.
 *
 * Usage: test-net-tunnel COLLECTOR calls|packets|sockets
 */

#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "net-fixture.h"

#define INNER_HERE "10.232.7.1"
#define INNER_THERE "10.232.7.2"
#define CARRIER_PORT 7777

static int open_tun(void)
{
        struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "tunnel0" };
        int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

        return fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0 ? fd : -1;
}

/* A VPN's program: sends packets from its device to @there, and writes packets from there to its device. */
static void carry(const char *inner, const char *here, const char *there, int ready)
{
        struct sockaddr_in to = address(there, CARRIER_PORT);
        char command[256], packet[65536];
        struct pollfd fds[2] = { { .fd = open_tun(), .events = POLLIN },
                                 { .fd = listen_at(here, CARRIER_PORT, SOCK_DGRAM), .events = POLLIN } };

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(command, sizeof(command), "ip addr add %s/24 dev tunnel0 && ip link set tunnel0 up mtu 1400", inner);
        if (fds[0].fd < 0 || system(command) != 0 || connect(fds[1].fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
            write(ready, "", 1) != 1)
                _exit(1);
        for (;;) {
                poll(fds, 2, -1);
                for (int i = 0; i < 2; i++) {
                        ssize_t n = fds[i].revents & POLLIN ? read(fds[i].fd, packet, sizeof(packet)) : 0;

                        if (n > 0)
                                (void)!write(fds[!i].fd, packet, (size_t)n);
                }
        }
}

static void enter_peer(void)
{
        char path[64];
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)peer);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
                _exit(1);
        close(fd);
}

/* -1: this kernel has no tun. */
static pid_t start_carrier(bool is_there)
{
        int ready[2];
        pid_t pid;
        char byte;

        if (pipe(ready) < 0)
                exit(1);
        pid = start_child();
        if (pid == 0) {
                close(ready[0]);
                if (is_there)
                        enter_peer();
                carry(is_there ? INNER_THERE : INNER_HERE, is_there ? THERE : HERE, is_there ? HERE : THERE, ready[1]);
        }
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1) {
                end_child(pid);
                pid = -1;
        }
        close(ready[0]);
        return pid;
}

/* Bytes @sent over the wire, or received from it, by the kernel's count. */
static uint64_t wire_bytes(bool sent)
{
        char text[8192], *at;
        unsigned long long received_bytes = 0, sent_bytes = 0;
        ssize_t length;
        int fd = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);

        length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        close(fd);
        text[MAX(length, (ssize_t)0)] = '\0';
        at = strstr(text, "wire0:");
        if (!at || sscanf(at, "wire0: %llu %*u %*u %*u %*u %*u %*u %*u %llu", &received_bytes, &sent_bytes) != 2)
                return 0;
        return sent ? sent_bytes : received_bytes;
}

struct moved {
        uint64_t sent, received, wakes, elsewhere;
        uint64_t packets; /* both ways */
};

static struct moved moved_by(pid_t pid, bool wifi)
{
        const struct process *process = find(pid);

        if (!process)
                return (struct moved){ 0 };
        if (wifi)
                return (struct moved){ process->wifi_tx_bytes, process->wifi_rx_bytes, process->wifi_wakes,
                                       process->other_tx_bytes + process->other_rx_bytes,
                                       process->wifi_tx_packets + process->wifi_rx_packets };
        return (struct moved){ process->other_tx_bytes, process->other_rx_bytes, process->wifi_wakes,
                               process->wifi_tx_bytes + process->wifi_rx_bytes,
                               process->other_tx_packets + process->other_rx_packets };
}

/* Bytes in the process's bursts in this sample. */
static uint64_t burst_bytes(pid_t pid)
{
        uint64_t bytes = 0;

        for (size_t i = 0; i < sample.n_bursts; i++)
                if (sample.bursts[i].process.pid == pid)
                        bytes += sample.bursts[i].burst.bytes[RADIO_TX] + sample.bursts[i].burst.bytes[RADIO_RX];
        return bytes;
}

static void send_over_tunnel(void)
{
        write_all(connect_to(INNER_THERE, 7001, SOCK_STREAM), BYTES);
}

/* Most bytes received but not yet read, which count as the carrier's until they are read. */
#define UNREAD 65536

static void receive_over_tunnel(void)
{
        struct sockaddr_in at = address(INNER_THERE, 7002);
        int fd = socket(AF_INET, SOCK_STREAM, 0), room = UNREAD / 2; /* the kernel doubles it */

        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
        if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                _exit(1);
        read_all(fd, 0);
}

/* Datagrams without a connection: only the default route tells where they go. */
static void datagrams_over_tunnel(void)
{
        struct sockaddr_in at = address(INNER_THERE, 7003);
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        char block[1200] = { 0 };

        for (int i = 0; i < 100; i++) {
                sendto(fd, block, 1000, 0, (struct sockaddr *)&at, sizeof(at));
                (void)!recv(fd, block, sizeof(block), 0);
        }
}

static const struct {
        const char *name;
        void (*run)(void);
        uint64_t sent, received;
} works[] = {
        { "tunnel-send", send_over_tunnel, BYTES, 0 },
        { "tunnel-receive", receive_over_tunnel, 0, BYTES },
        { "tunnel-udp", datagrams_over_tunnel, 100000, 100000 },
};

/* To the byte; but a packet that was sent again counts again where packets are counted. */
static bool about(uint64_t got, uint64_t want)
{
        return got >= want && got <= (way == NET_BY_PACKETS ? 2 * want : want);
}

/* Waits until nothing moves on the wire any more, so that samples and the wire's counters agree. */
static void settle(void)
{
        uint64_t last = 0, now = wire_bytes(true) + wire_bytes(false);

        for (int tries = 0; tries < 100 && now != last; tries++) {
                usleep(100 * 1000);
                last = now;
                now = wire_bytes(true) + wire_bytes(false);
        }
        look();
}

/* @carrier: 0 where the kernel itself sends the outer packets. */
static void test_work(size_t i, pid_t carrier, bool wifi)
{
        uint64_t sent, received, most = (works[i].sent + works[i].received) / 2;
        struct moved before, after, app;
        int status;
        pid_t pid;

        settle();
        before = moved_by(carrier, wifi);
        sent = wire_bytes(true);
        received = wire_bytes(false);
        pid = start_child();
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                prctl(PR_SET_NAME, works[i].name);
                works[i].run();
                raise(SIGSTOP);
                _exit(0);
        }
        waitpid(pid, &status, WUNTRACED);
        settle();
        app = moved_by(pid, wifi);
        after = moved_by(carrier, wifi);
        fprintf(stderr, "%s (%s): app %llu/%llu, carrier %llu/%llu, wire %llu/%llu, packets %llu and %llu\n",
                works[i].name, wifi ? "wifi" : "other", (unsigned long long)app.sent,
                (unsigned long long)app.received, (unsigned long long)(after.sent - before.sent),
                (unsigned long long)(after.received - before.received),
                (unsigned long long)(wire_bytes(true) - sent),
                (unsigned long long)(wire_bytes(false) - received), (unsigned long long)app.packets,
                (unsigned long long)(after.packets - before.packets));
        check(about(app.sent, works[i].sent) && about(app.received, works[i].received));
        check_int(app.elsewhere, 0);
        check_int(after.elsewhere, 0);
        check(app.sent + after.sent - before.sent <= wire_bytes(true) - sent + UNREAD);
        check(app.received + after.received - before.received <= wire_bytes(false) - received + UNREAD);
        check(after.sent - before.sent < most && after.received - before.received < most); /* the headers are its own */
        check(!wifi || sockets || app.wakes > 0);
        check(way != NET_BY_PACKETS || app.packets > 0);
        check(app.packets == 0 || after.packets - before.packets < app.packets / 2);
        if (wifi && !sockets) {
                check(burst_bytes(pid) >= works[i].sent + works[i].received);
                check(carrier == 0 || burst_bytes(carrier) < most);
        }
        end_child(pid);
}

static void test_all_works(pid_t carrier, bool wifi)
{
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                if (!sockets || works[i].run != datagrams_over_tunnel)
                        test_work(i, carrier, wifi);
}

/* Routes like OpenVPN's: both halves of the Internet through the tunnel, and the old default route stays. */
#define ROUTES(verb) "ip route " verb " 0.0.0.0/1 dev tunnel0 && ip route " verb " 128.0.0.0/1 dev tunnel0"

static bool test_tun(bool wifi)
{
        pid_t there = start_carrier(true), here = there > 0 ? start_carrier(false) : -1;

        if (here < 0) {
                end_child(there);
                return false;
        }
        check_int(system(ROUTES("add")), 0);
        test_all_works(here, wifi);
        end_child(here);
        end_child(there);
        return true;
}

/* Routes like wg-quick's: a table of its own for all packets that are not marked as outer ones. */
static const char wireguard[] =
        "set -e; a=$(wg genkey); b=$(wg genkey); n='nsenter -t %d -n'\n"
        "ip link add tunnel0 type wireguard; $n ip link add tunnel0 type wireguard\n"
        "echo $a > wg-a; echo $b > wg-b\n"
        "wg set tunnel0 listen-port 7778 private-key wg-a fwmark 77 peer $(echo $b | wg pubkey) "
        "allowed-ips 0.0.0.0/0 endpoint " THERE ":7778\n"
        "$n wg set tunnel0 listen-port 7778 private-key wg-b peer $(echo $a | wg pubkey) "
        "allowed-ips 0.0.0.0/0 endpoint " HERE ":7778\n"
        "rm wg-a wg-b\n"
        "ip addr add " INNER_HERE "/24 dev tunnel0; $n ip addr add " INNER_THERE "/24 dev tunnel0\n"
        "ip link set tunnel0 up; $n ip link set tunnel0 up\n"
        "ip route add default dev tunnel0 table 78\n"
        "ip rule add not fwmark 77 table 78 priority 901; ip rule add table main suppress_prefixlength 0 "
        "priority 900\n";

static bool test_wireguard(bool wifi)
{
        char command[2048];

        if (system("wg --version > /dev/null 2>&1 && ip link add tunnel0 type wireguard 2> /dev/null && "
                   "ip link del tunnel0") != 0)
                return false;
        snprintf(command, sizeof(command), wireguard, (int)peer);
        check_int(system(command), 0);
        test_all_works(0, wifi);
        snprintf(command, sizeof(command), "ip rule del priority 900; ip rule del priority 901; ip link del tunnel0; "
                 "nsenter -t %d -n ip link del tunnel0", (int)peer);
        check_int(system(command), 0);
        return true;
}

static bool tested;

static void test_all(const char *collector, bool wifi)
{
        check(open_all(collector, wifi ? "wire0" : NULL));
        if (test_tun(wifi))
                tested = true;
        else
                fprintf(stderr, "no tun device here\n");
        if (test_wireguard(wifi))
                tested = true;
        else
                fprintf(stderr, "no wireguard here (kernel module, wg)\n");
        close_all();
}

int main(int argc, char **argv)
{
        int result = run_on_wire(argc, argv, test_all);

        if (result == 0 && !tested)
                printf("skipped: neither tun nor wireguard\n");
        return result == 0 && !tested ? 77 : result;
}
