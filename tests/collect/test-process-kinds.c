/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The kind of work of processes, from counters that the programs read at switches. Software events replace the CPU's: a
 * 1 GHz clock as cycles and as instructions, and page faults, which a process can count itself, as cache events.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "process/collector.h"
#include "source/cpu.h"
#include "tree.h"
#include "util/units.h"
#include "util/util.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq/"
#define PAGES 64

/* Two policies of one CPU each, with other numbers than their CPUs. */
static const struct {
        const char *path, *text;
} files[] = {
        { CPUFREQ "policy3/related_cpus", "0\n" },
        { CPUFREQ "policy3/scaling_cur_freq", "1500000\n" },
        { CPUFREQ "policy3/stats/time_in_state", "800000 1\n1500000 2\n" },
        { CPUFREQ "policy5/related_cpus", "1\n" },
        { CPUFREQ "policy5/scaling_cur_freq", "700000\n" },
        { CPUFREQ "policy5/stats/time_in_state", "700000 1\n2100000 2\n" },
        { "sys/devices/system/cpu/present", "0-1\n" },
};
static const uint32_t policies[] = { 3, 5 };

static char dir[] = "/tmp/joulecast-kinds-XXXXXX";
static struct sample sample;
static volatile uint64_t spun;

/* Until it has run for @ns, with pauses; @faults: it touches new pages all the time. */
static void work(int cpu, bool faults, uint64_t ns)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof(set), &set);
        while (util_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < ns) {
                char *pages = MAP_FAILED;

                if (faults)
                        pages = mmap(NULL, PAGES << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                for (size_t i = 0; pages != MAP_FAILED && i < PAGES; i++)
                        pages[i << 12] = 1;
                if (pages != MAP_FAILED)
                        munmap(pages, PAGES << 12);
                for (int i = 0; i < 20000; i++)
                        spun++;
                if (spun % 400000 < 20000)
                        usleep(100); /* a switch: stretches begin and end there, and nobody else may want this CPU */
        }
}

static bool poll_once(struct source *cpu, struct source *source)
{
        sample_reset(&sample);
        check_int(cpu->ops->read(cpu, &sample), 0);
        check_int(source->ops->read(source, &sample), 0);
        return sample.have & SAMPLE_COUNTED;
}

static const struct process *find(pid_t pid)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return &sample.processes[i];
        return NULL;
}

/* The row of a process of the sample and a policy; there is one. */
static const struct process_counted *counted(pid_t pid, uint32_t policy)
{
        const struct process *process = find(pid);
        const struct process_counted *found = NULL;

        for (size_t i = 0; process && i < sample.n_counted; i++) {
                const struct process_counted *row = &sample.counted[i];

                if (row->process.pid != pid || row->process.start_time != process->start_time || row->policy != policy)
                        continue;
                check(!found);
                found = row;
        }
        return found;
}

/* The ratios hold for its whole life; samples cover a part of that. */
static void check_kind(pid_t pid, uint32_t policy, bool misses, const struct rusage *use)
{
        const struct process_counted *row = counted(pid, policy);
        double ran_ns = (double)use->ru_utime.tv_sec * 1e9 + (double)use->ru_utime.tv_usec * 1e3 +
                        (double)use->ru_stime.tv_sec * 1e9 + (double)use->ru_stime.tv_usec * 1e3;
        double faults_per_ms = (double)use->ru_minflt / ran_ns * 1e6, cycles;

        check(row != NULL);
        if (!row)
                return;
        cycles = (double)row->amount[COUNTED_CYCLES];
        fprintf(stderr, "policy %u: sampled %.1f of %.1f ms, IPC %.4f, %.2f faults per ms, want %.2f\n", policy,
                cycles / 1e6, ran_ns / 1e6, (double)row->amount[COUNTED_INSTRUCTIONS] / cycles,
                (double)row->amount[COUNTED_MISSES] / cycles * 1e6, faults_per_ms);
        check(cycles > 0.05 * ran_ns);
        check(cycles < 1.6 * ran_ns); /* the host may take its time from this machine, but not from its clock */
        check_near((double)row->amount[COUNTED_INSTRUCTIONS], cycles, 0.05 * cycles);
        check_int(row->misses, misses);
        if (!misses)
                check_int(row->amount[COUNTED_MISSES], 0);
        else
                check_near((double)row->amount[COUNTED_MISSES] / cycles * 1e6, faults_per_ms,
                           0.35 * faults_per_ms + 0.5);
}

/* Both processes end before the poll, as short ones do. */
static void run(struct source *cpu, struct source *source, bool misses)
{
        struct rusage use[ARRAY_SIZE(policies)];
        pid_t children[ARRAY_SIZE(policies)];

        poll_once(cpu, source);
        for (int i = 0; i < (int)ARRAY_SIZE(policies); i++) {
                children[i] = start_child();
                if (children[i] == 0) {
                        work(i, i == 1, 400 * NS_PER_MS);
                        _exit(0);
                }
        }
        for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
                check(wait4(children[i], NULL, 0, &use[i]) == children[i]);
        usleep(300 * 1000); /* the kernel reports an end some ms later */
        check(poll_once(cpu, source));
        for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
                check_kind(children[i], policies[i], misses, &use[i]);
        check(poll_once(cpu, source)); /* sums since the sample before */
        check(!counted(children[0], policies[0]) && !counted(children[1], policies[1]));
}

int main(void)
{
        static const struct {
                uint32_t leave_out;
                bool none;
                uint32_t counts;
        } cases[] = {
                { 0, false, COUNTS_KINDS | COUNTS_MISSES },
                { COUNTS_MISSES, false, COUNTS_KINDS },
                { COUNTS_KINDS, false, 0 },
                { 0, true, 0 },
        };
        struct collector_options options = { .cycles_for_test = true };
        struct source *cpu, *source;
        int err = 0;

        if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
                printf("skipped: needs two CPUs\n");
                return 77;
        }
        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                check(tree_write(dir, files[i].path, files[i].text, strlen(files[i].text)));
        options.root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(cpu_open(options.root_fd, &cpu), 0);
        for (size_t i = 0; !err && i < ARRAY_SIZE(cases); i++) {
                options.leave_out = cases[i].leave_out;
                options.no_counters = cases[i].none;
                err = process_bpf_open(&options, &source);
                if (err)
                        continue;
                check(source->counts & COUNTS_OPPS);
                check_int(source->counts & (COUNTS_KINDS | COUNTS_MISSES), cases[i].counts);
                check_int(!!source->misses, !!(cases[i].counts & COUNTS_MISSES));
                if (cases[i].counts)
                        run(cpu, source, cases[i].counts & COUNTS_MISSES);
                else
                        check(!poll_once(cpu, source) && sample.n_counted == 0);
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
