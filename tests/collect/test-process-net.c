/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Network bytes byte for byte, and bursts, between two network namespaces and a
 * veth pair: one end is taken for WiFi or not, the peer has a namespace of its
 * own. What no hook sees is a test too, so that the day it does is noticed.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "collector.h"
#include "units.h"
#include "util.h"

#define HERE "10.231.7.1"
#define THERE "10.231.7.2"
#define BYTES 1000003

static struct source *source;
static struct sample sample;


/* A namespace for us, one for the peer, and a wire between them; both end with their processes. */
static bool make_wire(pid_t peer)
{
        char command[512];

        snprintf(command, sizeof(command),
                 "ip link set lo up && ip link add wire0 type veth peer name wire1 netns %d && "
                 "ip addr add " HERE "/24 dev wire0 && ip link set wire0 up && ip route add default via " THERE " && "
                 "nsenter -t %d -n sh -c 'ip link set lo up; ip addr add " THERE "/24 dev wire1; ip link set wire1 up'",
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

/* Swallows what comes to port 7001, sends BYTES to who connects to 7002, answers datagrams at 7003. */
static void be_peer(void)
{
        int sink = listen_at("0.0.0.0", 7001, SOCK_STREAM), give = listen_at("0.0.0.0", 7002, SOCK_STREAM);
        int echo = listen_at("0.0.0.0", 7003, SOCK_DGRAM);

        if (fork() == 0) {
                for (;;) {
                        int fd = accept(sink, NULL, NULL);

                        read_all(fd, 0);
                        close(fd);
                }
        }
        if (fork() == 0) {
                for (;;) {
                        int fd = accept(give, NULL, NULL);

                        write_all(fd, BYTES);
                        close(fd);
                }
        }
        for (;;) {
                struct sockaddr_in from;
                socklen_t length = sizeof(from);
                char block[2048];
                ssize_t n = recvfrom(echo, block, sizeof(block), 0, (struct sockaddr *)&from, &length);

                if (n > 0)
                        sendto(echo, block, (size_t)n, 0, (struct sockaddr *)&from, length);
        }
}

static void tcp_send(void)
{
        int fd = connect_to(THERE, 7001, SOCK_STREAM);

        write_all(fd, BYTES);
        close(fd);
}

static void tcp_receive(void)
{
        int fd = connect_to(THERE, 7002, SOCK_STREAM);

        read_all(fd, 0);
        close(fd);
}

/* Peeked at first: counts once. */
static void tcp_peek(void)
{
        int fd = connect_to(THERE, 7002, SOCK_STREAM);
        char block[4096];

        for (int i = 0; i < 10; i++)
                (void)!recv(fd, block, sizeof(block), MSG_PEEK);
        read_all(fd, 0);
        close(fd);
}

static void tcp_sendfile(void)
{
        int fd = connect_to(THERE, 7001, SOCK_STREAM), file = open("/proc/self/exe", O_RDONLY);
        off_t offset = 0;

        while (offset < 20000)
                if (sendfile(fd, file, &offset, 20000 - (size_t)offset) <= 0)
                        break;
        close(fd);
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
        close(fd);
}

static void udp_connected(void)
{
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);
        char block[1200] = { 0 };

        for (int i = 0; i < 50; i++) {
                (void)!send(fd, block, 1000, 0);
                (void)!recv(fd, block, sizeof(block), 0);
        }
        close(fd);
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
        close(fd);
}

/* A thousand connections that live for less than a poll. */
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
        int server = listen_at("127.0.0.1", 7009, SOCK_STREAM), fd = connect_to("127.0.0.1", 7009, SOCK_STREAM);
        int other = accept(server, NULL, NULL), pair[2];

        write_all(fd, 10000);
        shutdown(fd, SHUT_WR);
        read_all(other, 0);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
                write_all(pair[0], 10000);
}

/* One's own address on the wire is delivered by lo. */
static void loopback_by_own_address(void)
{
        int server = listen_at(HERE, 7010, SOCK_STREAM), fd = connect_to(HERE, 7010, SOCK_STREAM);
        int other = accept(server, NULL, NULL);

        write_all(fd, 10000);
        shutdown(fd, SHUT_WR);
        read_all(other, 0);
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
}

static const struct work {
        const char *name;
        void (*run)(void);
        uint64_t sent, received;
        uint64_t bursts; /* where the wire is taken for WiFi */
} works[] = {
        { "tcp-send", tcp_send, BYTES, 0, 1 },
        { "tcp-receive", tcp_receive, 0, BYTES, 1 },
        { "tcp-peek", tcp_peek, 0, BYTES, 1 },
        { "tcp-sendfile", tcp_sendfile, 20000, 0, 1 },
        { "tcp-splice", tcp_splice, 0, 0, 0 }, /* missed: BYTES were received */
        { "udp-connected", udp_connected, 50000, 50000, 1 },
        { "udp-unconnected", udp_unconnected, 35000, 35000, 1 },
        { "tcp-short", tcp_short, 200 * 501, 0, 1 },
        { "loopback", loopback, 0, 0, 0 },
        { "loopback-own", loopback_by_own_address, 0, 0, 0 },
        { "bursts", bursts, 150, 0, 3 },
};

static pid_t start(const struct work *work)
{
        pid_t pid = fork();

        if (pid == 0) {
                alarm(20);
                prctl(PR_SET_NAME, work->name);
                work->run();
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

static void check_work(const struct work *work, pid_t pid, bool wifi)
{
        const struct process *process = NULL;

        for (int i = 0; i < 300 && !process; i++) { /* told at its exit, by an RCU that may be 10 s late */
                usleep(50 * 1000);
                sample_reset(&sample);
                check_int(source->ops->read(source, &sample), 0);
                process = find(pid);
        }
        check(process);
        if (!process)
                return;
        fprintf(stderr, "%s (%s): sent %llu, received %llu, bursts %llu\n", work->name, wifi ? "wifi" : "other",
                (unsigned long long)(wifi ? process->wifi_tx_bytes : process->other_tx_bytes),
                (unsigned long long)(wifi ? process->wifi_rx_bytes : process->other_rx_bytes),
                (unsigned long long)process->wifi_wakes);
        check(process->have & PROCESS_WIFI && process->have & PROCESS_OTHER_NET);
        check_int(wifi ? process->wifi_tx_bytes : process->other_tx_bytes, work->sent);
        check_int(wifi ? process->wifi_rx_bytes : process->other_rx_bytes, work->received);
        check_int(wifi ? process->other_tx_bytes : process->wifi_tx_bytes, 0);
        check_int(wifi ? process->other_rx_bytes : process->wifi_rx_bytes, 0);
        check_int(process->wifi_wakes, wifi ? work->bursts : 0);
}

static void test_all(const char *collector, bool wifi)
{
        struct collector_options options = {
                .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                .wifi_for_test = wifi ? "wire0" : NULL,
        };

        check_int(collector_open(all_collectors, collector, &options, &source), 0);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
                pid_t pid = start(&works[i]);

                waitpid(pid, NULL, 0);
                check_work(&works[i], pid, wifi);
        }
        source->ops->close(source);
        close(options.root_fd);
}

static bool is_there(const char *collector)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        bool there = collector_open(all_collectors, collector, &options, &source) == 0;

        close(options.root_fd);
        if (!there)
                return false;
        there = source->counts & COUNTS_NET;
        source->ops->close(source);
        return there;
}

int main(int argc, char **argv)
{
        const char *collector = argc > 1 ? argv[1] : "bpf";
        int ready[2];
        char byte = 0;
        pid_t peer;

        if (!is_there(collector) || unshare(CLONE_NEWNET) < 0 || pipe(ready) < 0) {
                printf("skipped: needs root, network namespaces and the %s collector with network bytes\n", collector);
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
