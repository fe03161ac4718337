/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CPU time by operating point if the kernel reports no frequency. The policies are a machine tree's, and a software
 * event that counts at 1 GHz replaces cycles; the scheduler and its switches are real. With "counted", the CPU's own
 * counter is read: QEMU's aarch64 also counts at 1 GHz (tests/arm).
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "model/usage.h"
#include "process/collector.h"
#include "source/cpu.h"
#include "tree.h"
#include "util/units.h"
#include "util/util.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq/"

/* A GHz is a point of the first policy, and in the middle between two of the second. */
static const struct {
        const char *path, *text;
} files[] = {
        { CPUFREQ "policy0/related_cpus", "0\n" },          { CPUFREQ "policy0/cpuinfo_min_freq", "800000\n" },
        { CPUFREQ "policy0/cpuinfo_max_freq", "1500000\n" }, { CPUFREQ "policy1/related_cpus", "1\n" },
        { CPUFREQ "policy1/cpuinfo_min_freq", "700000\n" },  { CPUFREQ "policy1/cpuinfo_max_freq", "2100000\n" },
        { "sys/devices/system/cpu/present", "0-1\n" },
};

static struct source *cpu, *source;
static struct sample sample;
static uint64_t work_ns, long_ns; /* CPU time between two sleeps; in all */
static double far_share; /* part of the time that may be at other points */
static uint64_t wall_ns; /* time since before the collector was opened */

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void poll_once(void)
{
        sample_reset(&sample);
        check_int(cpu->ops->read(cpu, &sample), 0);
        check_int(source->ops->read(source, &sample), 0);
        check(sample.opps_counted);
        check_int(sample.n_opps, 2 * (1 + CPU_GRID_POINTS));
}

static void pin(int number)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(number, &set);
        sched_setaffinity(0, sizeof(set), &set);
}

/*
 * Works for @work_ns, and sleeps a millisecond, in turn. An emulated CPU takes some 30 us from the scheduler's start of
 * counting to the switch, where cycles are read.
 */
static pid_t start_hopping(int number)
{
        pid_t pid = start_child();

        if (pid != 0)
                return pid;
        pin(number);
        for (;;) {
                uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

                while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < work_ns)
                        ;
                usleep(1000);
        }
}

static uint64_t ran_ns(pid_t pid)
{
        clockid_t clock;

        return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

static const struct process *find(pid_t pid)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return &sample.processes[i];
        return NULL;
}

/* The process's CPU time averages 1 GHz, and most of it is at the operating points next to that. */
static void check_process(pid_t pid, uint32_t policy, uint32_t below_khz, uint32_t above_khz)
{
        const struct process *process = find(pid);
        double sum_ns = 0, cycles = 0, near_ns = 0, any_ns = 0, want_ns = (double)ran_ns(pid);

        check(process && (process->have & PROCESS_CPU_OPPS) && process->cpu_opp_ns);
        if (!process || !process->cpu_opp_ns)
                return;
        for (size_t i = 0; i < sample.n_opps; i++) {
                double ns = (double)process->cpu_opp_ns[i];

                if (sample.opps[i].policy != policy)
                        continue; /* CPU time before the process was pinned */
                sum_ns += ns;
                cycles += ns * sample.opps[i].khz;
                if (sample.opps[i].khz == below_khz || sample.opps[i].khz == above_khz)
                        near_ns += ns;
                check(sample.opps[i].busy_ns >= process->cpu_opp_ns[i]);
                any_ns += (double)sample.opps[i].any_ns;
        }
        fprintf(stderr, "policy %u: %.1f of %.1f ms, %.0f kHz, %.1f ms near it, any %.1f of %.1f ms\n",
                policy, sum_ns / 1e6, want_ns / 1e6, cycles / sum_ns, near_ns / 1e6, any_ns / 1e6,
                (double)wall_ns / 1e6);
        check(any_ns >= 0.9 * sum_ns && any_ns <= (double)wall_ns);
        check_near(sum_ns, want_ns, 0.02 * want_ns);
        check_near(near_ns, sum_ns, far_share * sum_ns);
        check_near(cycles / sum_ns, 1e6, 5e4);
}

static void run(void)
{
        pid_t children[2];

        for (int i = 0; i < 2; i++)
                children[i] = start_hopping(i);
        poll_once();
        for (int i = 0; i < 2; i++) {
                while (ran_ns(children[i]) < long_ns)
                        usleep(10 * 1000);
                kill(children[i], SIGSTOP);
                waitpid(children[i], NULL, WUNTRACED);
        }
        for (int i = 0; i < 10; i++)
                poll_once(); /* `any` of a policy that is just changing is reported by the next one */
        wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
        check_process(children[0], 0, 1000000, 1000000);
        check_process(children[1], 1, 900000, 1100000);
        for (int i = 0; i < 2; i++)
                end_child(children[i]);
}

int main(int argc, char **argv)
{
        static char dir[] = "/tmp/joulecast-cycles-XXXXXX";
        bool counted = argc > 1 && strcmp(argv[1], "counted") == 0;
        struct collector_options options = { .cycles_for_test = !counted };
        int err;

        /* This machine may stop an emulated CPU between the clock and the cycles. */
        far_share = counted ? 0.2 : 0.1;
        work_ns = counted ? 10 * NS_PER_MS : NS_PER_MS;
        long_ns = counted ? 2 * NS_PER_S : 500 * NS_PER_MS;
        if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
                printf("skipped: needs two CPUs\n");
                return 77;
        }
        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                check(tree_write(dir, files[i].path, files[i].text, strlen(files[i].text)));
        options.root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(cpu_open(options.root_fd, &cpu), 0);
        wall_ns = clock_ns(CLOCK_MONOTONIC);
        err = process_bpf_open(&options, &source);
        if (!err) {
                check(source->counts & COUNTS_OPPS && source->counts & COUNTS_CYCLES);
                check_int(process_bpf_feed_frequency(source, 0, 1000000), -ENODATA);
                run();
                source->ops->close(source);
        }
        cpu->ops->close(cpu);
        sample_clear(&sample);
        close(options.root_fd);
        tree_remove(dir);
        if (err)
                printf("skipped: needs the BPF collector: %s\n", strerror(-err));
        return err ? 77 : check_result();
}
