/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the programs add to the work of others: to a switch between two
 * processes, and to a call that sends. By the kernel's own count (bpf_stats, which
 * includes its two clock reads: an empty program shows about 55 ns) and by the
 * wall, as the median of pairs with and without, in turn.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collector.h"
#include "process-bpf.h"
#include "process.skel.h"
#include "util.h"

#define PAIRS 15
#define RING_MAX 400

static char tree[] = "/tmp/hooks-XXXXXX";

static double now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void write_text(const char *name, const char *text)
{
        char path[256];

        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpufreq/policy0/%s", tree, name);
        if (util_make_parent(path, 0700) < 0 || util_write_file(path, text, strlen(text), 0600) < 0)
                exit(1);
}

static struct source *load(const char *root, uint32_t leave_out)
{
        struct collector_options options = { .root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                             .leave_out = leave_out };
        struct source *source = NULL;
        int err = collector_open(all_collectors, "bpf", &options, &source);

        close(options.root_fd);
        if (err) {
                printf("skipped: the BPF collector does not load: %s\n", strerror(-err));
                exit(77);
        }
        return source;
}

static double per_run_ns(const struct bpf_program *program)
{
        struct bpf_prog_info info = { 0 };
        uint32_t size = sizeof(info);

        bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
        return info.run_cnt ? (double)info.run_time_ns / (double)info.run_cnt : 0;
}

/* A byte goes round a ring of processes on one CPU: each step is a switch from one to the next. */
static double ring(int n, int rounds)
{
        static int pipes[RING_MAX][2];
        double begin;
        char byte = 0;
        cpu_set_t set;
        pid_t pids[RING_MAX];

        CPU_ZERO(&set);
        CPU_SET(1 % sysconf(_SC_NPROCESSORS_ONLN), &set);
        for (int i = 0; i < n; i++)
                if (pipe(pipes[i]) < 0)
                        exit(1);
        sched_setaffinity(0, sizeof(set), &set);
        for (int i = 1; i < n; i++) {
                pids[i] = fork();
                if (pids[i] != 0)
                        continue;
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        if (read(pipes[i][0], &byte, 1) != 1 || write(pipes[(i + 1) % n][1], &byte, 1) != 1)
                                _exit(0);
        }
        for (int i = 0; i < rounds / 10 + 1; i++) /* warm */
                if (write(pipes[1 % n][1], &byte, 1) != 1 || read(pipes[0][0], &byte, 1) != 1)
                        exit(1);
        begin = now_ns();
        for (int i = 0; i < rounds; i++)
                if (write(pipes[1 % n][1], &byte, 1) != 1 || read(pipes[0][0], &byte, 1) != 1)
                        exit(1);
        begin = (now_ns() - begin) / ((double)rounds * n);
        for (int i = 1; i < n; i++) {
                kill(pids[i], SIGKILL);
                waitpid(pids[i], NULL, 0);
        }
        for (int i = 0; i < n; i++) {
                close(pipes[i][0]);
                close(pipes[i][1]);
        }
        return begin;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static void measure_switch(int n, int rounds)
{
        double added[PAIRS], hop = 0, counted = 0;

        for (int i = 0; i < PAIRS; i++) {
                double without = ring(n, rounds), with;
                struct source *source = load(tree, COUNTS_NET | COUNTS_EXITS);

                with = ring(n, rounds);
                source->ops->close(source);
                added[i] = with - without;
                hop += without / PAIRS;
        }
        qsort(added, PAIRS, sizeof(*added), compare);
        for (int i = 0; i < 3; i++) { /* apart, since counting costs more than what it counts */
                struct source *source = load(tree, COUNTS_NET | COUNTS_EXITS);
                int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

                ring(n, rounds);
                counted += per_run_ns(((struct process_collector *)source)->bpf->progs.count_switch) / 3;
                close(stats_fd);
                source->ops->close(source);
        }
        printf("switch among %3d processes: %6.0f ns a hop; added %4.0f ns (median; %4.0f lowest tenth), bpf_stats %4.0f ns\n",
               n, hop, added[PAIRS / 2], added[PAIRS / 10], counted);
}

static void measure_send(void)
{
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
        struct source *source = load("/", COUNTS_OPPS | COUNTS_EXITS);
        struct process_bpf *bpf = ((struct process_collector *)source)->bpf;
        char block[64] = { 0 };
        int fd, stats_fd;

        if (unshare(CLONE_NEWNET) < 0 ||
            system("ip link add d0 type veth peer name d1 && ip addr add 10.231.8.1/24 dev d0 && ip link set d1 up && "
                   "ip link set d0 up && ip neigh add 10.231.8.2 lladdr 02:00:00:00:00:01 dev d0") != 0) {
                printf("send: no network namespace could be made\n");
                return;
        }
        inet_pton(AF_INET, "10.231.8.2", &to.sin_addr);
        fd = socket(AF_INET, SOCK_DGRAM, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
                return;
        for (int wifi = 0; wifi < 2; wifi++) {
                double before_ns, ns;

                if (wifi)
                        bpf->bss->wifi_for_test = (int)if_nametoindex("d0");
                stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
                before_ns = per_run_ns(bpf->progs.count_send);
                for (int i = 0; i < 200000; i++)
                        (void)!send(fd, block, sizeof(block), 0);
                ns = per_run_ns(bpf->progs.count_send);
                close(stats_fd);
                printf("send of 64 bytes (%s): bpf_stats %.0f ns a call\n", wifi ? "WiFi, with the one before" : "other",
                       ns > 0 ? ns : before_ns);
        }
        close(fd);
        source->ops->close(source);
}

static void remove_tree(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -r %s", tree);
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", tree);
}

int main(void)
{
        if (!mkdtemp(tree))
                return 1;
        write_text("related_cpus", "0 1 2 3 4 5 6 7\n");
        write_text("scaling_cur_freq", "1000000\n");
        write_text("stats/time_in_state", "500000 1\n1000000 2\n2000000 3\n");
        measure_switch(2, 30000);
        measure_switch(RING_MAX, 200);
        remove_tree();
        measure_send();
        return 0;
}
