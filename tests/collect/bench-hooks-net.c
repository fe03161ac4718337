/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures the time that each way to count the network adds to a call, between two network namespaces of ours.
 * Packets are counted where they pass: a datagram in the call that sends it, data of TCP also later, and
 * received packets in a softirq.
 */

#include "bench-hooks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process/process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

#define HERE "10.231.8.1"
#define THERE "10.231.8.2"
#define ROUNDS 7
#define CALLS 20000 /* in a round; what runs less often than half of them is not reported */
#define PROGRAMS_MAX 64

static int here_fd, there_fd; /* the namespaces */

static int new_namespace(void)
{
        return unshare(CLONE_NEWNET) < 0 ? -1 : open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* Both end with this process. The interface numbers are the same, so that both ends can stand for WiFi. */
static bool make_wire(void)
{
        char command[512];

        there_fd = new_namespace();
        here_fd = new_namespace();
        if (there_fd < 0 || here_fd < 0)
                return false;
        snprintf(command, sizeof(command),
                 "ip link add wire index 9 type veth peer name wire index 9 netns /proc/%d/fd/%d && "
                 "ip addr add " HERE "/24 dev wire && ip link set wire up && "
                 "nsenter --net=/proc/%d/fd/%d sh -c 'ip addr add " THERE "/24 dev wire && ip link set wire up'",
                 (int)getpid(), there_fd, (int)getpid(), there_fd);
        return system(command) == 0;
}

static int socket_in(int namespace_fd, int type)
{
        if (setns(namespace_fd, CLONE_NEWNET) < 0)
                exit(1);
        return socket(AF_INET, type | SOCK_CLOEXEC, 0);
}

static struct sockaddr_in address(const char *host, in_port_t port)
{
        struct sockaddr_in ret = { .sin_family = AF_INET, .sin_port = port };

        inet_pton(AF_INET, host, &ret.sin_addr);
        return ret;
}

static void connect_to(int fd, const char *host, int other_fd)
{
        struct sockaddr_in at;
        socklen_t length = sizeof(at);

        getsockname(other_fd, (struct sockaddr *)&at, &length);
        at = address(host, at.sin_port);
        if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
                fprintf(stderr, "cannot connect to %s: %s\n", host, strerror(errno));
                exit(1);
        }
}

/* Makes a socket here and one there, both of which know their route. */
static void make_pair(int type, int *here, int *there)
{
        struct sockaddr_in at = address(THERE, 0), from = address(HERE, 0);
        int yes = 1;

        *there = socket_in(there_fd, type);
        *here = socket_in(here_fd, type);
        if (bind(*there, (struct sockaddr *)&at, sizeof(at)) < 0 ||
            bind(*here, (struct sockaddr *)&from, sizeof(from)) < 0)
                exit(1);
        if (type == SOCK_STREAM) {
                int listener = *there;

                listen(listener, 1);
                connect_to(*here, THERE, listener);
                *there = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                close(listener);
                setsockopt(*here, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        } else {
                connect_to(*here, THERE, *there);
                connect_to(*there, HERE, *here);
        }
}

static void send_blocks(int here, int there)
{
        char block[64] = { 0 };

        for (int i = 0; i < CALLS; i++)
                if (send(here, block, sizeof(block), 0) < 0 ||
                    recv(there, block, sizeof(block), MSG_WAITALL) < 0)
                        exit(1);
}

static void make_sockets(int here, int there)
{
        for (int i = 0; i < CALLS; i++)
                close(socket(AF_INET, SOCK_DGRAM, 0));
}

struct ran {
        double ns, n;
};

static void ask(const struct process_bpf *bpf, struct ran *ran)
{
        struct bpf_program *program;
        size_t i = 0;

        bpf_object__for_each_program(program, bpf->obj) {
                struct bpf_prog_info info = { 0 };
                uint32_t size = sizeof(info);

                if (i < PROGRAMS_MAX && bpf_program__autoload(program) &&
                    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
                        ran[i] = (struct ran){ (double)info.run_time_ns, (double)info.run_cnt };
                i++;
        }
}

static void measure(const struct process_bpf *bpf, const char *what, void (*work)(int here, int there),
                    int here, int there)
{
        double per_run_ns[PROGRAMS_MAX][ROUNDS] = { 0 };
        struct bpf_program *program;
        size_t i = 0;

        work(here, there); /* warm */
        for (size_t round = 0; round < ROUNDS; round++) {
                struct ran before[PROGRAMS_MAX] = { 0 }, after[PROGRAMS_MAX] = { 0 };

                ask(bpf, before);
                work(here, there);
                ask(bpf, after);
                for (i = 0; i < PROGRAMS_MAX; i++) {
                        double n = after[i].n - before[i].n;

                        if (n >= CALLS / 2.0)
                                per_run_ns[i][round] = (after[i].ns - before[i].ns) / n;
                }
        }
        i = 0;
        bpf_object__for_each_program(program, bpf->obj) {
                double ns = i < PROGRAMS_MAX ? hooks_median(per_run_ns[i], ROUNDS) : 0;

                if (ns > 0)
                        printf("%-40s %-20s bpf_stats %4.0f ns a run%s\n", what,
                               bpf_program__name(program), ns, ns > 120 ? "   MISSED: 120 ns" : "");
                i++;
        }
}

/* A way that counts nothing would be a fast one. */
static bool counts_us(struct source *source)
{
        struct sample sample = { 0 };
        uint64_t bytes = 0;
        int err = source->ops->read(source, &sample);

        for (size_t i = 0; !err && i < sample.n_processes; i++)
                if (sample.processes[i].pid == getpid())
                        bytes = MIN(sample.processes[i].wifi_rx_bytes, sample.processes[i].wifi_tx_bytes);
        sample_clear(&sample);
        return bytes >= UINT64_C(64) * CALLS;
}

static void measure_way(enum net_by by, bool bursts, const char *name)
{
        static const struct {
                const char *name;
                int type;
        } types[] = { { "64 bytes by UDP", SOCK_DGRAM }, { "64 bytes by TCP", SOCK_STREAM } };
        struct source *source = hooks_load("/", COUNTS_OPPS | (bursts ? 0 : COUNTS_BURSTS | COUNTS_EXITS), by);
        struct process_bpf *bpf = ((struct process_collector *)source)->bpf;
        int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME), here, there;
        char what[64];

        if (!(source->counts & COUNTS_NET))
                printf("%s: this kernel does not load them\n", name);
        for (size_t i = 0; (source->counts & COUNTS_NET) && i < ARRAY_SIZE(types); i++) {
                make_pair(types[i].type, &here, &there);
                for (int wifi = 0; wifi < 2; wifi++) {
                        bpf->bss->for_test = (struct interface){ wifi ? 9 : 0, KIND_WIFI };
                        bpf->bss->has_radio = wifi;
                        snprintf(what, sizeof(what), "%s, %s, %s", name, types[i].name,
                                 wifi ? "WiFi" : "other");
                        measure(bpf, what, send_blocks, here, there);
                }
                close(here);
                close(there);
        }
        if ((source->counts & COUNTS_NET) && !counts_us(source)) {
                printf("%s: they counted nothing\n", name);
                exit(1);
        }
        if ((source->counts & COUNTS_NET) && by == NET_BY_PACKETS)
                measure(bpf, "packets, a new socket", make_sockets, -1, -1);
        close(stats_fd);
        source->ops->close(source);
}

void measure_net(void)
{
        if (!make_wire()) {
                printf("network: no namespace could be made\n");
                return;
        }
        measure_way(NET_BY_CALLS, false, "calls");
        measure_way(NET_BY_CALLS, true, "calls, bursts");
        measure_way(NET_BY_PACKETS, true, "packets, bursts");
}
