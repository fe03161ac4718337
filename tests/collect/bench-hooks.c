/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures the time that the BPF programs add to the work of others: to a switch between two
 * processes, and to calls that send and receive (bench-hooks-net.c). Times are from bpf_stats of the kernel,
 * which includes its two clock reads (the time of an empty program is printed first), and, for switches, also by
 * wall clock, as the median over alternating pairs with and without the programs.
 *
 * Usage: bench-hooks [net | cycles | kinds]
 */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench-hooks.h"
#include "child.h"
#include "process/collector.h"
#include "process/process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

#define PAIRS 15
#define COUNTS 7
#define RING_MAX 400

static char tree[32];
static bool by_cycles; /* software events replace the counters, and are read like them */
static uint32_t without = COUNTS_NET | COUNTS_EXITS | COUNTS_KINDS;

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

struct source *hooks_load(const char *root, uint32_t leave_out, enum net_by net_by)
{
        struct collector_options options = { .root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                             .leave_out = leave_out, .net_by = net_by,
                                             .cycles_for_test = by_cycles };
        struct source *source = NULL;
        int err = collector_open(all_collectors, "bpf", &options, &source);

        close(options.root_fd);
        if (err) {
                printf("skipped: the BPF collector does not load: %s\n", strerror(-err));
                exit(77);
        }
        return source;
}

static double per_run_ns(int program_fd)
{
        struct bpf_prog_info info = { 0 };
        uint32_t size = sizeof(info);

        bpf_obj_get_info_by_fd(program_fd, &info, &size);
        return info.run_cnt ? (double)info.run_time_ns / (double)info.run_cnt : 0;
}

static void pin_to_one_cpu(void)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(1 % sysconf(_SC_NPROCESSORS_ONLN), &set);
        sched_setaffinity(0, sizeof(set), &set);
}

/* Passes a byte round a ring of processes on one CPU: each step is a switch to the next process. */
static double ring(int n, int rounds)
{
        static int pipes[RING_MAX][2];
        double begin;
        char byte = 0;
        pid_t pids[RING_MAX];

        for (int i = 0; i < n; i++)
                if (pipe(pipes[i]) < 0)
                        exit(1);
        pin_to_one_cpu();
        for (int i = 1; i < n; i++) {
                pids[i] = start_child();
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
        for (int i = 1; i < n; i++)
                end_child(pids[i]);
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

double hooks_median(double *values, size_t n)
{
        qsort(values, n, sizeof(*values), compare);
        return values[n / 2];
}

/* Mean run time in ns of the program at a switch while @work makes switches, by bpf_stats. */
static double counted_ns(double (*work)(int n, int rounds), int n, int rounds)
{
        struct source *source = hooks_load(tree, without, NET_BY_BEST);
        const struct process_bpf *bpf = ((struct process_collector *)source)->bpf;
        int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
        double ret;

        work(n, rounds);
        ret = per_run_ns(bpf_program__fd(bpf->progs.count_switch));
        close(stats_fd);
        source->ops->close(source);
        return ret;
}

static const char *verdict(double ns, double goal_ns)
{
        static char text[32];

        snprintf(text, sizeof(text), "   MISSED: %.0f ns", goal_ns);
        return ns > goal_ns ? text : "";
}

static void measure_switch(int n, int rounds, double goal_ns)
{
        double added[PAIRS], hop = 0, counted[COUNTS], median;

        for (int i = 0; i < PAIRS; i++) {
                double alone = ring(n, rounds), with;
                struct source *source = hooks_load(tree, without, NET_BY_BEST);

                with = ring(n, rounds);
                source->ops->close(source);
                added[i] = with - alone;
                hop += alone / PAIRS;
        }
        hooks_median(added, PAIRS); /* and sorted */
        for (int i = 0; i < COUNTS; i++) /* apart, since counting costs more than what it counts */
                counted[i] = counted_ns(ring, n, rounds);
        median = hooks_median(counted, COUNTS);
        printf("switch among %3d processes: %6.0f ns a hop; added %4.0f ns (median; %4.0f lowest tenth), "
               "bpf_stats %4.0f ns%s\n",
               n, hop, added[PAIRS / 2], added[PAIRS / 10], median, verdict(median, goal_ns));
}

/* Each round is a switch to idle and one from it. */
static double doze(int unused, int rounds)
{
        pin_to_one_cpu();
        for (int i = 0; i < rounds; i++)
                usleep(20);
        return 0;
}

static void measure_idle(void)
{
        double counted[COUNTS];

        for (int i = 0; i < COUNTS; i++)
                counted[i] = counted_ns(doze, 1, 20000);
        printf("switch to and from idle: bpf_stats %.0f ns\n", hooks_median(counted, COUNTS));
}

static void remove_tree(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -r %s", tree);
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", tree);
}

/* Mean run time in ns of a program at a system call, by bpf_stats; NAN: it could not be measured. */
static double at_call_ns(const struct bpf_insn *program, size_t n)
{
        _cleanup_close_ int fd =
                bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "Dual BSD/GPL", program, n, NULL);
        _cleanup_close_ int link = fd < 0 ? -1 : bpf_raw_tracepoint_open("sys_enter", fd);
        _cleanup_close_ int stats = link < 0 ? -1 : bpf_enable_stats(BPF_STATS_RUN_TIME);

        for (int i = 0; stats >= 0 && i < 200000; i++)
                getppid();
        return stats < 0 ? NAN : per_run_ns(fd);
}

/* Prints the time of an empty program, which is part of each number below. */
static void measure_nothing(void)
{
        const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
                                            { .code = BPF_JMP | BPF_EXIT } };

        printf("an empty program, at a system call: bpf_stats %.0f ns\n", at_call_ns(nothing, ARRAY_SIZE(nothing)));
}

/* Prints the time of a program that only reads the event used in place of the counter. */
static void measure_reading(void)
{
        struct source *source = hooks_load(tree, without, NET_BY_BEST);
        const struct process_bpf *bpf = ((struct process_collector *)source)->bpf;
        const struct bpf_insn reading[] = {
                { .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD,
                  .imm = bpf_map__fd(bpf->maps.counters) },
                { 0 },
                { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = -1 },  /* BPF_F_CURRENT_CPU, */
                { .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = 2, .imm = 32 },  /* which has 32 bits */
                { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_perf_event_read },
                { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
                { .code = BPF_JMP | BPF_EXIT },
        };

        printf("a program that reads the event: bpf_stats %.0f ns\n", at_call_ns(reading, ARRAY_SIZE(reading)));
        source->ops->close(source);
}

static void make_tree(void)
{
        snprintf(tree, sizeof(tree), "/tmp/hooks-XXXXXX");
        if (!mkdtemp(tree))
                exit(1);
        write_text("related_cpus", "0 1 2 3 4 5 6 7\n");
}

static void make_frequencies(void)
{
        make_tree();
        write_text("scaling_cur_freq", "1000000\n");
        write_text("stats/time_in_state", "500000 1\n1000000 2\n2000000 3\n");
}

static void measure_switches(void)
{
        make_frequencies();
        measure_switch(2, 30000, 130);
        measure_switch(RING_MAX, 200, 150);
        measure_idle();
        remove_tree();
}

static void measure_cycles(void)
{
        make_tree();
        write_text("cpuinfo_min_freq", "700000\n");
        write_text("cpuinfo_max_freq", "2100000\n");
        printf("with cycles read at switches:\n");
        by_cycles = true;
        measure_reading();
        measure_switch(2, 30000, 150);
        measure_switch(RING_MAX, 200, 150);
        measure_idle();
        by_cycles = false;
        remove_tree();
}

#define RUNS 60

static void read_stats(int program_fd, double *ns, double *n)
{
        struct bpf_prog_info info = { 0 };
        uint32_t size = sizeof(info);

        bpf_obj_get_info_by_fd(program_fd, &info, &size);
        *ns = (double)info.run_time_ns;
        *n = (double)info.run_cnt;
}

/* Mean time of a switch in short runs: the lower quartile, as in other runs this machine did other work. */
static double lowest_ns(double (*work)(int n, int rounds), int n, int rounds)
{
        struct source *source = hooks_load(tree, without, NET_BY_BEST);
        int fd = bpf_program__fd(((struct process_collector *)source)->bpf->progs.count_switch);
        int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
        double mean[RUNS];

        for (int i = 0; i < RUNS; i++) {
                double before_ns, before, after_ns, after;

                read_stats(fd, &before_ns, &before);
                work(n, rounds);
                read_stats(fd, &after_ns, &after);
                mean[i] = (after_ns - before_ns) / (after - before);
        }
        close(stats_fd);
        source->ops->close(source);
        hooks_median(mean, RUNS); /* sorts them */
        return mean[RUNS / 4];
}

/* Prints the extra time of the program with sampled stretches, alternating with runs without them. */
static void measure_more(const char *what, double (*work)(int n, int rounds), int n, int rounds)
{
        double with[COUNTS], more[COUNTS];

        for (int i = 0; i < COUNTS; i++) {
                double alone = lowest_ns(work, n, rounds);

                without &= ~(uint32_t)COUNTS_KINDS;
                with[i] = lowest_ns(work, n, rounds);
                without |= COUNTS_KINDS;
                more[i] = with[i] - alone;
        }
        printf("%s: bpf_stats %.0f ns, %.1f ns of it for kinds of work%s\n", what, hooks_median(with, COUNTS),
               hooks_median(more, COUNTS), verdict(hooks_median(more, COUNTS), 10));
        fflush(stdout);
}

/* Two processes share a CPU, each for as long as the scheduler lets it. */
static double share(int unused, int rounds)
{
        double begin = now_ns();
        pid_t other = start_child();

        pin_to_one_cpu();
        while (other == 0 || now_ns() - begin < rounds * 1e6)
                for (volatile int i = 0; i < 50000; i++)
                        ;
        end_child(other);
        return 0;
}

static void measure_kinds(void)
{
        make_frequencies();
        by_cycles = true;
        printf("with kinds of work sampled:\n");
        measure_more("switch among   2 processes", ring, 2, 2000);
        measure_more("switch among 400 processes", ring, RING_MAX, 10);
        measure_more("switch to and from idle", doze, 1, 500);
        measure_more("switch between two that work", share, 1, 50);
        by_cycles = false;
        remove_tree();
}

int main(int argc, char **argv)
{
        const char *only = argc > 1 ? argv[1] : "";

        measure_nothing();
        if (!*only)
                measure_switches();
        if (!*only || strcmp(only, "cycles") == 0)
                measure_cycles();
        if (!*only || strcmp(only, "kinds") == 0)
                measure_kinds();
        if (!*only || strcmp(only, "net") == 0)
                measure_net();
        return 0;
}
