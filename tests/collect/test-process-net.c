/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Network bytes byte for byte, and bursts, between two network namespaces and a
 * veth pair: one end is taken for WiFi or not, the peer has a namespace of its
 * own. Each way to count is forced, and what it does not see is a test too, so that the day it does is
 * noticed: the table of docs/performance.md is `works` below.
 *
 * Usage: test-process-net COLLECTOR calls|functions|packets|sockets
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "collector.h"
#include "machine.h"
#include "units.h"
#include "util.h"

#define HERE "10.231.7.1"
#define THERE "10.231.7.2"
#define HERE_6 "fd07::1"
#define THERE_6 "fd07::2"
#define BYTES 1000003
#define BYTES_UNREAD 7000

static struct source *source, *sockets; /* the second: of NET_BY_SOCKETS */
static struct sample sample;
static struct apps *apps;
static enum net_by way;

/* A namespace for us, one for the peer, and a wire between them; both end with their processes. */
static bool make_wire(pid_t peer)
{
        char command[768];

        snprintf(command, sizeof(command),
                 "ip link set lo up && ip link add wire0 type veth peer name wire1 netns %d && "
                 "ip addr add " HERE "/24 dev wire0 && ip addr add " HERE_6 "/64 dev wire0 nodad && ip link set wire0 up && ip route add default via " THERE " && "
                 "nsenter -t %d -n sh -c 'ip link set lo up; ip addr add " THERE "/24 dev wire1; ip addr add " THERE_6 "/64 dev wire1 nodad; ip link set wire1 up'",
                 (int)peer, (int)peer);
        return system(command) == 0;
}

static struct sockaddr_in address(const char *host, uint16_t port)
{
        struct sockaddr_in ret = { .sin_family = AF_INET, .sin_port = htons(port) };

        inet_pton(AF_INET, host, &ret.sin_addr);
        return ret;
}

static int listen_at(const char *host, uint16_t port, int type)
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

static int connect_to(const char *host, uint16_t port, int type)
{
        struct sockaddr_in at = address(host, port);
        int fd = socket(AF_INET, type, 0);

        for (int i = 0; connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 && i < 100; i++)
                usleep(10000);
        return fd;
}

static void write_all(int fd, size_t n)
{
        static char block[16384];

        while (n > 0) {
                ssize_t sent = send(fd, block, MIN(n, sizeof(block)), MSG_NOSIGNAL);

                if (sent <= 0)
                        return;
                n -= (size_t)sent;
        }
}

static void read_all(int fd, int flags)
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

/* Connects to who sends it a datagram, gives 3000 bytes and takes what comes. */
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

/*
 * Swallows what comes to port 7001, sends BYTES to who connects to 7002 and BYTES_UNREAD at 7004, answers
 * datagrams at 7003 and 7006, connects to who asks at 7005.
 */
static void be_peer(void)
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

/* What nobody reads; its time is up when it has arrived. */
static void tcp_unread(void)
{
        int fd = connect_to(THERE, 7004, SOCK_STREAM), waiting = 0;

        for (int i = 0; waiting < BYTES_UNREAD && i < 500; i++) {
                usleep(10000);
                if (ioctl(fd, FIONREAD, &waiting) < 0)
                        _exit(1);
        }
        finish(fd);
}

/* A server's socket, which was made in no system call of its own. */
static void tcp_accept(void)
{
        int server = listen_at(HERE, 7011, SOCK_STREAM), fd;
        struct sockaddr_in at = address(THERE, 7005);
        char block[3000] = { 0 };
        int caller = socket(AF_INET, SOCK_DGRAM, 0);

        sendto(caller, block, 0, 0, (struct sockaddr *)&at, sizeof(at)); /* "connect to me" */
        fd = accept(server, NULL, NULL);
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

/* What a way sees of a piece of work; bursts where the wire is taken for WiFi. */
struct seen {
        uint64_t sent, received, bursts;
};

#define BPF(...) { __VA_ARGS__ }, { __VA_ARGS__ }, { __VA_ARGS__ }
#define ALL(...) BPF(__VA_ARGS__), { __VA_ARGS__ }
#define NOTHING { 0, 0, 0 }

static const struct work {
        const char *name;
        void (*run)(void);
        struct seen by_calls, by_functions, by_packets, by_sockets;
} works[] = {
        { "tcp-send", tcp_send, BPF(BYTES, 0, 1), { BYTES, 0, 0 } },
        { "tcp-receive", tcp_receive, BPF(0, BYTES, 1), { 0, BYTES, 0 } },
        { "tcp-peek", tcp_peek, BPF(0, BYTES, 1), { 0, BYTES, 0 } },
        { "tcp-sendfile", tcp_sendfile, BPF(20000, 0, 1), { 20000, 0, 0 } },
        /* Calls: where no function can be hooked. */
        { "tcp-splice", tcp_splice, NOTHING, { 0, BYTES, 1 }, { 0, BYTES, 1 }, { 0, BYTES, 0 } },
        { "tcp-unread", tcp_unread, NOTHING, NOTHING, { 0, BYTES_UNREAD, 1 }, { 0, BYTES_UNREAD, 0 } },
        { "tcp-accept", tcp_accept, BPF(3000, 3000, 1), { 3000, 3000, 0 } },
        { "udp-connected", udp_connected, BPF(50000, 50000, 1), NOTHING },
        { "udp-unconnected", udp_unconnected, BPF(35000, 35000, 1), NOTHING },
        { "udp-6", udp_6, BPF(4000, 4000, 1), NOTHING },
        { "tcp-short", tcp_short, BPF(200 * 501, 0, 1), NOTHING },
        { "loopback", loopback, ALL(0, 0, 0) },
        { "loopback-own", loopback_by_own_address, ALL(0, 0, 0) },
        { "bursts", bursts, { 150, 0, 3 }, { 150, 0, 3 }, { 150, 150, 3 }, NOTHING }, /* the echo is never read */
};

static struct seen expected(const struct work *work, bool splice_hooked)
{
        if (way == NET_BY_CALLS)
                return splice_hooked && work->run == tcp_splice ? work->by_functions : work->by_calls;
        return way == NET_BY_FUNCTIONS ? work->by_functions : way == NET_BY_PACKETS ? work->by_packets : work->by_sockets;
}

static pid_t start(const struct work *work)
{
        pid_t pid = fork();

        if (pid == 0) {
                alarm(20);
                prctl(PR_SET_NAME, work->name);
                work->run();
                if (work->run == tcp_short)
                        be_looked_at();
                _exit(0);
        }
        return pid;
}

static const struct process *find(pid_t pid)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return &sample.processes[i];
        return NULL;
}

static void look(void)
{
        sample_reset(&sample);
        check_int(source->ops->read(source, &sample), 0);
        if (sockets)
                check_int(sockets->ops->read(sockets, &sample), 0);
}

static bool has_all(const struct process *process, const struct seen *want, bool wifi)
{
        return process && (wifi ? process->wifi_tx_bytes : process->other_tx_bytes) >= want->sent &&
               (wifi ? process->wifi_rx_bytes : process->other_rx_bytes) >= want->received;
}

/*
 * Told at its exit, by an RCU that may be 10 s late;
 * or what sockets have, some of which may be on its way.
 */
static const struct process *wait_for(const struct work *work, pid_t pid, bool wifi)
{
        const struct process *process = NULL;

        for (int i = 0; i < 300; i++) {
                look();
                process = find(pid);
                if (sockets ? has_all(process, &work->by_sockets, wifi) : process != NULL)
                        break;
                usleep(50 * 1000);
        }
        return process;
}

/* To the byte; but what a slow machine sends again are packets again. */
static void check_bytes(uint64_t got, uint64_t want)
{
        if (way == NET_BY_PACKETS && got > want && got <= want + want / 100)
                return;
        check_int(got, want);
}

static void check_work(const struct work *work, pid_t pid, bool wifi)
{
        const struct process *process = wait_for(work, pid, wifi);
        struct seen want;

        check(process);
        if (!process)
                return;
        fprintf(stderr, "%s (%s): sent %llu, received %llu, bursts %llu\n", work->name,
                wifi ? "wifi" : "other",
                (unsigned long long)(wifi ? process->wifi_tx_bytes : process->other_tx_bytes),
                (unsigned long long)(wifi ? process->wifi_rx_bytes : process->other_rx_bytes),
                (unsigned long long)process->wifi_wakes);
        check(process->have & PROCESS_WIFI && process->have & PROCESS_OTHER_NET);
        want = expected(work, process->wifi_rx_bytes + process->other_rx_bytes > 0);
        check_bytes(wifi ? process->wifi_tx_bytes : process->other_tx_bytes, want.sent);
        check_bytes(wifi ? process->wifi_rx_bytes : process->other_rx_bytes, want.received);
        check_int(wifi ? process->other_tx_bytes : process->wifi_tx_bytes, 0);
        check_int(wifi ? process->other_rx_bytes : process->wifi_rx_bytes, 0);
        check_int(process->wifi_wakes, wifi ? want.bursts : 0);
}

static bool open_all(const char *collector, const char *wifi)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                             .wifi_for_test = wifi, .net_by = way };
        bool there;

        check_int(apps_new(options.root_fd, NULL, &apps), 0);
        options.apps = apps;
        there = collector_open(all_collectors, collector, &options, &source) == 0;
        if (there && way == NET_BY_SOCKETS)
                there = net_process_open(options.root_fd, wifi, &sockets) == 0;
        close(options.root_fd);
        return there;
}

static void close_all(void)
{
        if (sockets)
                sockets->ops->close(sockets);
        source->ops->close(source);
        apps_free(apps);
        sockets = NULL;
}

static void test_work(const struct work *work, bool wifi)
{
        pid_t pid;
        int status;

        look();
        pid = start(work);
        waitpid(pid, &status, WUNTRACED); /* `proc` sees nothing of who has ended */
        check_work(work, pid, wifi);
        if (WIFSTOPPED(status)) {
                kill(pid, SIGCONT);
                waitpid(pid, NULL, 0);
        }
}

/* As interval.c does, so that the next sample leaves out who did nothing. */
static void look_and_take(void)
{
        look();
        sample.taken = true;
}

static uint64_t sent_by(pid_t pid, bool wifi)
{
        const struct process *process = find(pid);

        return !process ? 0 : wifi ? process->wifi_tx_bytes : process->other_tx_bytes;
}

static void send_and_stop(int fd, size_t bytes)
{
        write_all(fd, bytes);
        raise(SIGSTOP);
}

/* What it sent goes on from where it was, after polls that had nothing to tell of it. */
static void test_pause(bool wifi)
{
        uint64_t sent = 0;
        pid_t pid = fork();

        if (pid == 0) {
                int fd = connect_to(THERE, 7001, SOCK_STREAM);

                alarm(20);
                send_and_stop(fd, 1000);
                send_and_stop(fd, 2000);
                _exit(0);
        }
        waitpid(pid, NULL, WUNTRACED);
        look_and_take();
        check_int(sent_by(pid, wifi), 1000);
        for (int i = 0; i < 4; i++)
                look_and_take();
        kill(pid, SIGCONT);
        waitpid(pid, NULL, WUNTRACED);
        for (int i = 0; i < 20 && sent == 0; i++) {
                look_and_take();
                sent = sent_by(pid, wifi);
        }
        check_int(sent, 3000);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        look(); /* nobody takes it, so that the next lists all */
}

#define MORE_THAN_THE_RING_HOLDS 4000

/* Its pid is another's next. */
static pid_t fork_as(pid_t pid)
{
        FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

        if (!file)
                return -1;
        fprintf(file, "%d", (int)pid - 1);
        return fclose(file) == 0 ? fork() : -1;
}

static void send_datagram(size_t bytes)
{
        static char block[1000];
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);

        (void)!send(fd, block, bytes, 0);
        usleep(50 * 1000);
}

/* -1: another took the pid before. */
static pid_t start_as(pid_t pid)
{
        pid_t child = fork_as(pid);

        if (child == 0) {
                if (getpid() == pid)
                        send_datagram(7);
                raise(SIGSTOP);
                _exit(0);
        }
        if (child < 0)
                return -1;
        waitpid(child, NULL, WUNTRACED);
        if (child == pid)
                return pid;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return -1;
}

/* There was no room to tell of its end: what it moved is nobody's, and not the next one's with its pid. */
static void test_lost(bool wifi)
{
        pid_t first, next = -1;

        look();
        for (int i = 0; i < MORE_THAN_THE_RING_HOLDS; i++) {
                first = fork();
                if (first == 0)
                        _exit(0);
                waitpid(first, NULL, 0);
        }
        usleep(300 * 1000); /* ends are told when the kernel gets to it */
        first = fork();
        if (first == 0) {
                send_datagram(900);
                _exit(0);
        }
        waitpid(first, NULL, 0);
        usleep(300 * 1000);
        for (int i = 0; i < 100 && next != first; i++)
                next = start_as(first);
        look();
        look();
        check_int(next, first);
        check(source->lost > 0);
        check_int(sent_by(first, wifi), 7);
        kill(next, SIGKILL);
        waitpid(next, NULL, 0);
}

static void test_all(const char *collector, bool wifi)
{
        check(open_all(collector, wifi ? "wire0" : NULL));
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                test_work(&works[i], wifi);
        test_pause(wifi);
        if (way == NET_BY_PACKETS)
                test_lost(wifi);
        close_all();
}

static bool is_there(const char *collector)
{
        bool there = open_all(collector, NULL);

        if (!there)
                return false;
        there = sockets || ((source->counts & COUNTS_NET) && source->net_by == (uint32_t)way);
        close_all();
        return there;
}

int main(int argc, char **argv)
{
        static const char *const ways[] = { [NET_BY_CALLS] = "calls", [NET_BY_FUNCTIONS] = "functions",
                                            [NET_BY_PACKETS] = "packets", [NET_BY_SOCKETS] = "sockets" };
        const char *collector = argc > 1 ? argv[1] : "bpf", *name = argc > 2 ? argv[2] : "calls";
        int ready[2];
        char byte = 0;
        pid_t peer;

        for (size_t i = NET_BY_CALLS; i < ARRAY_SIZE(ways); i++)
                if (strcmp(ways[i], name) == 0)
                        way = (enum net_by)i;
        if (!is_there(collector) || unshare(CLONE_NEWNET) < 0 || pipe(ready) < 0) {
                printf("skipped: needs root, network namespaces and the %s collector with network bytes by %s\n",
                       collector, name);
                return 77;
        }
        peer = fork();
        if (peer == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (setpgid(0, 0) < 0 || unshare(CLONE_NEWNET) < 0 || write(ready[1], &byte, 1) != 1)
                        _exit(1);
                be_peer();
        }
        if (read(ready[0], &byte, 1) != 1 || !make_wire(peer)) {
                kill(-peer, SIGKILL);
                printf("skipped: no veth pair could be made (iproute2 and util-linux)\n");
                return 77;
        }
        test_all(collector, false);
        test_all(collector, true);
        kill(-peer, SIGKILL);
        sample_clear(&sample);
        return check_result();
}
