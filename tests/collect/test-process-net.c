/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Network bytes byte for byte, and bursts, between two network namespaces and a
 * veth pair: one end is taken for WiFi or not, the peer has a namespace of its
 * own. Each way to count is forced, and what it does not see is a test too, so that the day it does is
 * noticed: the table of docs/performance.md is `works` below.
 *
 * Usage: test-process-net COLLECTOR calls|packets|sockets
 */

#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>

#include "child.h"
#include "net-fixture.h"

#define CLOSED_EARLY 200000
#define MOST_OF_A_SEGMENT 1460 /* bytes: the wire's MTU of 1500 less the headers */

/* Sockets have totals as long as they are there: then the work stops before it ends them, to be looked at. */
static void be_looked_at(void)
{
        if (way == NET_BY_SOCKETS)
                raise(SIGSTOP);
}

static void finish(int fd)
{
        be_looked_at();
        close(fd);
}

static void tcp_send(void)
{
        int fd = connect_to(THERE, 7001, SOCK_STREAM);

        write_all(fd, BYTES);
        finish(fd);
}

/* Most bytes leave after the socket was closed: the other side reads nothing until then. */
static void tcp_close_early(void)
{
        int fd = connect_to(THERE, 7001, SOCK_STREAM), room = 4 * CLOSED_EARLY;

        setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
        if (way != NET_BY_SOCKETS)
                kill(-peer, SIGSTOP);
        write_all(fd, CLOSED_EARLY);
        finish(fd);
        kill(-peer, SIGCONT);
        usleep(500 * 1000);
}

static void tcp_receive(void)
{
        int fd = connect_to(THERE, 7002, SOCK_STREAM);

        read_all(fd, 0);
        finish(fd);
}

/* Peeked at first: counts once. */
static void tcp_peek(void)
{
        int fd = connect_to(THERE, 7002, SOCK_STREAM);
        char block[4096];

        for (int i = 0; i < 10; i++)
                (void)!recv(fd, block, sizeof(block), MSG_PEEK);
        read_all(fd, 0);
        finish(fd);
}

static void tcp_sendfile(void)
{
        int fd = connect_to(THERE, 7001, SOCK_STREAM), file = open("/proc/self/exe", O_RDONLY);
        off_t offset = 0;

        while (offset < 20000)
                if (sendfile(fd, file, &offset, 20000 - (size_t)offset) <= 0)
                        break;
        finish(fd);
}

/* From a socket into a pipe: the hook is not passed. */
static void tcp_splice(void)
{
        int fd = connect_to(THERE, 7002, SOCK_STREAM), pipes[2];
        char block[65536];
        ssize_t n;

        if (pipe(pipes) < 0)
                _exit(1);
        while ((n = splice(fd, NULL, pipes[1], NULL, sizeof(block), 0)) > 0)
                (void)!read(pipes[0], block, (size_t)n);
        finish(fd);
}

static void udp_connected(void)
{
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);
        char block[1200] = { 0 };

        for (int i = 0; i < 50; i++) {
                (void)!send(fd, block, 1000, 0);
                (void)!recv(fd, block, sizeof(block), 0);
        }
        finish(fd);
}

/*
 * Timestamped datagrams like those of PTP and WebRTC: each comes back with the time when it was sent, which does not
 * count as received.
 */
static void udp_timed(void)
{
        const int flags = SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_SOFTWARE;
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);
        char block[1200] = { 0 };

        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
        for (int i = 0; i < 10; i++) {
                (void)!send(fd, block, 1000, 0);
                if (recv(fd, block, sizeof(block), MSG_ERRQUEUE) < 1000)
                        _exit(1);
                (void)!recv(fd, block, sizeof(block), 0);
        }
        finish(fd);
}

static void udp_unconnected(void)
{
        struct sockaddr_in at = address(THERE, 7003);
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        char block[1200] = { 0 };

        for (int i = 0; i < 50; i++) {
                sendto(fd, block, 700, 0, (struct sockaddr *)&at, sizeof(at));
                (void)!recv(fd, block, sizeof(block), 0);
        }
        finish(fd);
}

static void wait_for_bytes(int fd, int bytes)
{
        int waiting = 0;

        for (int i = 0; waiting < bytes && i < 500; i++) {
                usleep(10000);
                if (ioctl(fd, FIONREAD, &waiting) < 0)
                        _exit(1);
        }
}

/* Received data that is never read; the process is done when it has arrived. */
static void tcp_unread(void)
{
        int fd = connect_to(THERE, 7004, SOCK_STREAM);

        wait_for_bytes(fd, BYTES_UNREAD);
        finish(fd);
}

/* A server's socket, which the kernel made and no system call of the process. */
static int accept_caller(void)
{
        int server = listen_at(HERE, 7011, SOCK_STREAM), asking = socket(AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in at = address(THERE, 7005);

        sendto(asking, "", 0, 0, (struct sockaddr *)&at, sizeof(at)); /* "connect to me" */
        return accept(server, NULL, NULL);
}

/* The socket's owner must be known before the process reads from it. */
static void tcp_greet(void)
{
        char block[3000] = { 0 };
        int fd = accept_caller();

        (void)!send(fd, block, sizeof(block), 0);
        wait_for_bytes(fd, 3000);
        finish(fd);
}

static void tcp_accept(void)
{
        char block[3000] = { 0 };
        int fd = accept_caller();

        (void)!recv(fd, block, sizeof(block), MSG_WAITALL);
        (void)!send(fd, block, sizeof(block), 0);
        be_looked_at();
        shutdown(fd, SHUT_WR);
        read_all(fd, 0);
        close(fd);
}

static void udp_6(void)
{
        struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(7006) };
        int fd = socket(AF_INET6, SOCK_DGRAM, 0);
        char block[1200] = { 0 };

        inet_pton(AF_INET6, THERE_6, &at.sin6_addr);
        if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                _exit(1);
        for (int i = 0; i < 4; i++) {
                (void)!send(fd, block, 1000, 0);
                (void)!recv(fd, block, sizeof(block), 0);
        }
        finish(fd);
}

/* Two hundred connections that live for less than a poll. */
static void tcp_short(void)
{
        for (int i = 0; i < 200; i++) {
                int fd = connect_to(THERE, 7001, SOCK_STREAM);

                write_all(fd, 501);
                close(fd);
        }
}

static void loopback(void)
{
        int server = listen_at("127.0.0.1", 7009, SOCK_STREAM),
            fd = connect_to("127.0.0.1", 7009, SOCK_STREAM);
        int other = accept(server, NULL, NULL), pair[2];

        write_all(fd, 10000);
        shutdown(fd, SHUT_WR);
        read_all(other, 0);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
                write_all(pair[0], 10000);
        finish(fd);
}

/* One's own address on the wire is delivered by lo. */
static void loopback_by_own_address(void)
{
        int server = listen_at(HERE, 7010, SOCK_STREAM), fd = connect_to(HERE, 7010, SOCK_STREAM);
        int other = accept(server, NULL, NULL);

        write_all(fd, 10000);
        shutdown(fd, SHUT_WR);
        read_all(other, 0);
        finish(fd);
}

/* Three bursts: the second and third after more than a second of silence. */
static void bursts(void)
{
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);
        char block[100] = { 0 };

        for (int burst = 0; burst < 3; burst++) {
                for (int i = 0; i < 5; i++) {
                        (void)!send(fd, block, 10, 0);
                        usleep(20 * 1000);
                }
                usleep(1200 * 1000);
        }
        finish(fd);
}

/* Bytes that a way of counting sees of a piece of work, and bursts if the wire is taken for WiFi. */
struct seen {
        uint64_t sent, received, bursts;
};

#define BPF(...) { __VA_ARGS__ }, { __VA_ARGS__ }
#define ALL(...) BPF(__VA_ARGS__), { __VA_ARGS__ }
#define NOTHING { 0, 0, 0 }

static const struct work {
        const char *name;
        void (*run)(void);
        struct seen by_calls, by_packets, by_sockets;
} works[] = {
        { "tcp-send", tcp_send, BPF(BYTES, 0, 1), { BYTES, 0, 0 } },
        { "tcp-close-early", tcp_close_early, BPF(CLOSED_EARLY, 0, 1), { CLOSED_EARLY, 0, 0 } },
        { "tcp-receive", tcp_receive, BPF(0, BYTES, 1), { 0, BYTES, 0 } },
        { "tcp-peek", tcp_peek, BPF(0, BYTES, 1), { 0, BYTES, 0 } },
        { "tcp-sendfile", tcp_sendfile, BPF(20000, 0, 1), { 20000, 0, 0 } },
        { "tcp-splice", tcp_splice, NOTHING, { 0, BYTES, 1 }, { 0, BYTES, 0 } },
        { "tcp-unread", tcp_unread, NOTHING, { 0, BYTES_UNREAD, 1 }, { 0, BYTES_UNREAD, 0 } },
        { "tcp-accept", tcp_accept, BPF(3000, 3000, 1), { 3000, 3000, 0 } },
        { "tcp-greet", tcp_greet, { 3000, 0, 1 }, { 3000, 3000, 1 }, { 3000, 3000, 0 } },
        { "udp-connected", udp_connected, BPF(50000, 50000, 1), NOTHING },
        { "udp-timed", udp_timed, BPF(10000, 10000, 1), NOTHING },
        { "udp-unconnected", udp_unconnected, BPF(35000, 35000, 1), NOTHING },
        { "udp-6", udp_6, BPF(4000, 4000, 1), NOTHING },
        { "tcp-short", tcp_short, BPF(200 * 501, 0, 1), NOTHING },
        { "loopback", loopback, ALL(0, 0, 0) },
        { "loopback-own", loopback_by_own_address, ALL(0, 0, 0) },
        { "bursts", bursts, { 150, 0, 3 }, { 150, 150, 3 }, NOTHING }, /* the echo is never read */
};

static struct seen expected(const struct work *work)
{
        return way == NET_BY_CALLS ? work->by_calls : way == NET_BY_PACKETS ? work->by_packets : work->by_sockets;
}

static pid_t start(const struct work *work)
{
        pid_t pid = start_child();

        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                prctl(PR_SET_NAME, work->name);
                work->run();
                if (work->run == tcp_short)
                        be_looked_at();
                _exit(0);
        }
        return pid;
}

static bool has_all(const struct process *process, const struct seen *want, bool wifi)
{
        return process && (wifi ? process->wifi_tx_bytes : process->other_tx_bytes) >= want->sent &&
               (wifi ? process->wifi_rx_bytes : process->other_rx_bytes) >= want->received;
}

/* The process as reported at its end; or the bytes of its sockets, some of which may not have arrived yet. */
static const struct process *wait_for(const struct work *work, pid_t pid, bool wifi)
{
        const struct process *process;
        struct ends_wait wait = { 0 };

        do {
                look();
                process = find(pid);
        } while (ends_wait(&wait, sockets ? has_all(process, &work->by_sockets, wifi) : process != NULL, 1));
        return process;
}

/* TCP segments that this process's network namespace sent again so far; 0 if unknown. */
static uint64_t sent_again(pid_t pid)
{
        char path[64], text[4096], *line;
        unsigned long long n;

        snprintf(path, sizeof(path), "/proc/%d/net/snmp", pid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
                return 0;
        line = strstr(text, "\nTcp: ");
        line = line ? strstr(line + 1, "\nTcp: ") : NULL; /* below the line of names */
        return line && sscanf(line, " Tcp: %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &n) == 1 ? n : 0;
}

/* To the byte; but what a slow machine sends again, @again segments, are packets again. */
static void check_bytes(uint64_t got, uint64_t want, uint64_t again)
{
        if (way == NET_BY_PACKETS && got > want && got <= want + again * MOST_OF_A_SEGMENT)
                return;
        check_int(got, want);
}

/* A burst begins after a second of silence: one more for each second that a busy machine kept the work waiting. */
static uint64_t most_bursts(const struct work *work, uint64_t want, uint64_t took_ns)
{
        uint64_t silent_ns = work->run == bursts ? 4 * NS_PER_S : 0;

        return want > 0 && took_ns > silent_ns ? want + (took_ns - silent_ns) / NS_PER_S : want;
}

/*
 * No packet carries more than 64 KiB, and the other side acknowledges in fewer packets than bytes. If calls count
 * bytes, packets are also counted if there is a radio.
 */
static void check_packets(const struct seen *want, const struct process *process, bool wifi)
{
        uint64_t sent = wifi ? process->wifi_tx_packets : process->other_tx_packets;
        uint64_t received = wifi ? process->wifi_rx_packets : process->other_rx_packets;
        bool counted = process->have & USAGE_PACKETS;

        check(counted ? way != NET_BY_SOCKETS : way == NET_BY_SOCKETS || (way == NET_BY_CALLS && !wifi));
        if (!counted)
                return;
        check(sent >= want->sent >> 16 && received >= want->received >> 16);
        check(want->sent == 0 || sent > 0);
        check(want->received == 0 || received > 0);
        check(sent <= want->sent + want->received + 16 && received <= want->sent + want->received + 16);
        check_int(wifi ? process->other_tx_packets : process->wifi_tx_packets, 0);
        check_int(wifi ? process->other_rx_packets : process->wifi_rx_packets, 0);
}

/* @again: TCP segments that this end and the peer sent more than once */
static void check_work(const struct work *work, const struct process *process, bool wifi, uint64_t took_ns,
                       const uint64_t *again)
{
        struct seen want = expected(work);

        fprintf(stderr, "%s (%s): sent %llu, received %llu, bursts %llu\n", work->name,
                wifi ? "wifi" : "other",
                (unsigned long long)(wifi ? process->wifi_tx_bytes : process->other_tx_bytes),
                (unsigned long long)(wifi ? process->wifi_rx_bytes : process->other_rx_bytes),
                (unsigned long long)process->wifi_wakes);
        check(process->have & USAGE_WIFI && process->have & USAGE_OTHER_NET);
        check_bytes(wifi ? process->wifi_tx_bytes : process->other_tx_bytes, want.sent, again[0]);
        check_bytes(wifi ? process->wifi_rx_bytes : process->other_rx_bytes, want.received, again[1]);
        check_int(wifi ? process->other_tx_bytes : process->wifi_tx_bytes, 0);
        check_int(wifi ? process->other_rx_bytes : process->wifi_rx_bytes, 0);
        check_packets(&work->by_packets, process, wifi);
        check(process->wifi_wakes >= (wifi ? want.bursts : 0));
        check(process->wifi_wakes <= (wifi ? most_bursts(work, want.bursts, took_ns) : 0));
}

/* False: its end was not reported. */
static bool try_work(const struct work *work, bool wifi)
{
        const struct process *process;
        uint64_t began_ns = util_boottime_ns(), took_ns;
        uint64_t before[] = { sent_again(getpid()), sent_again(peer) }, again[2];
        pid_t pid;
        int status;

        look();
        pid = start(work);
        waitpid(pid, &status, WUNTRACED); /* `proc` does not see processes that have ended */
        took_ns = util_boottime_ns() - began_ns;
        process = wait_for(work, pid, wifi);
        again[0] = sent_again(getpid()) - before[0];
        again[1] = sent_again(peer) - before[1];
        if (process)
                check_work(work, process, wifi, took_ns, again);
        if (WIFSTOPPED(status)) {
                kill(pid, SIGCONT);
                waitpid(pid, NULL, 0);
        }
        return process;
}

/*
 * Tries at most twice: in a virtual machine in which the host runs a process of its own, the kernel ran no program for
 * one end in some 300, each of which it handled in a softirq while that process ran.
 */
static void test_work(const struct work *work, bool wifi)
{
        check(try_work(work, wifi) || try_work(work, wifi));
}

/* Successive changes of routes while the collector runs. Traffic without a connection counts by the default route. */
static const char *const routes[] = {
        "for i in $(seq 50); do ip route add 10.77.$i.0/24 via " THERE "; done", /* more than 4096 bytes of them */
        "ip route del default; ip route add default via " THERE_6, /* a default route through an IPv6 gateway only */
        "ip -6 route del default; ip route add default via " THERE " table 77; "
        "ip rule add not fwmark 77 table 77 priority 900", /* like VPNs */
};

static void test_routes(bool wifi)
{
        const struct work work = { "udp-unconnected", udp_unconnected, BPF(35000, 35000, 1), NOTHING };

        for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
                check_int(system(routes[i]), 0);
                test_work(&work, wifi);
        }
        check_int(system("ip rule del priority 900; ip route flush table 77; ip route flush root 10.77.0.0/16; "
                         "ip route add default via " THERE), 0); /* restores the routes */
}

static void test_all(const char *collector, bool wifi)
{
        check(open_all(collector, wifi ? "wire0" : NULL));
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                test_work(&works[i], wifi);
        if (!sockets) /* counting by sockets sees no datagrams */
                test_routes(wifi);
        close_all();
}

int main(int argc, char **argv)
{
        return run_on_wire(argc, argv, test_all);
}
