/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A CPU of this machine goes offline for a moment,
 * and comes back whatever happens: collectors go on counting.
 */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "collector.h"
#include "machine.h"
#include "tree.h"
#include "units.h"
#include "util.h"

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

static struct sample sample;
static struct source *cpu, *source;

static bool set_online(const char *text)
{
        _cleanup_close_ int fd = open(ONLINE, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write(fd, text, 1) == 1;
}

static void bring_back(void)
{
        set_online("1");
}

static void bring_back_and_end(int number)
{
        bring_back();
        _exit(number == SIGALRM ? 1 : 128 + number);
}

static uint64_t cpu_ns_of(pid_t pid)
{
        sample_reset(&sample);
        check_int(cpu->ops->read(cpu, &sample), 0);
        check_int(source->ops->read(source, &sample), 0);
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return sample.processes[i].cpu_ns;
        return 0;
}

static uint64_t clock_of(pid_t pid)
{
        struct timespec now = { 0 };
        clockid_t clock;

        if (clock_getcpuclockid(pid, &clock) == 0)
                clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* What it ran by its own clock, as the collector says, to @slack_ns. */
static void check_counts(pid_t pid, size_t n_cpus, uint64_t slack_ns)
{
        uint64_t seen_ns = cpu_ns_of(pid), ran_ns = clock_of(pid);

        check_int(sample.n_cores, n_cpus);
        check_near((double)seen_ns, (double)ran_ns, (double)slack_ns);
}

static void spin_on_cpu_1(void)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(1, &set);
        sched_setaffinity(0, sizeof(set), &set);
        for (;;)
                ;
}

/* It ran at the higher one of the frequencies. */
static void check_fast(pid_t pid)
{
        uint64_t at_ns[2] = { 0 };

        sample_reset(&sample);
        sample_add_opp(&sample)->khz = 384000;
        check_int(source->ops->read(source, &sample), 0);
        check(sample.n_opps >= ARRAY_SIZE(at_ns));
        for (size_t i = 0; i < sample.n_processes; i++)
                for (size_t at = 0; sample.processes[i].pid == pid && at < ARRAY_SIZE(at_ns); at++)
                        at_ns[at] = sample.processes[i].cpu_opp_ns[at];
        check(at_ns[1] > 20 * NS_PER_MS);
        check(at_ns[0] < at_ns[1] / 10);
}

/*
 * The kernel tells of a new frequency for each CPU of a policy that is online.
 * The other one has it when it is back.
 */
static void comes_back_to_another_frequency(void)
{
        static const char *const files[][2] = {
                { "stats/time_in_state", "384000 1\n1512000 2\n" },
                { "related_cpus", "0 1\n" },
                { "scaling_cur_freq", "384000\n" },
        };
        char dir[] = "/tmp/joulecast-hotplug-XXXXXX", path[96];
        struct collector_options options = { .root_fd = -1 };
        pid_t pid;

        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy0/%s", files[i][0]);
                check(tree_write(dir, path, files[i][1], strlen(files[i][1])));
        }
        options.root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(collector_open(all_collectors, "bpf", &options, &source), 0);
        check(source->counts & COUNTS_OPPS);
        check(set_online("0"));
        check_int(process_bpf_feed_frequency(source, 0, 1512000), 0);
        bring_back();
        pid = start_child();
        if (pid == 0)
                spin_on_cpu_1();
        usleep(200 * 1000);
        check_fast(pid);
        end_child(pid);
        source->ops->close(source);
        close(options.root_fd);
        tree_remove(dir);
}

int main(int argc, char **argv)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        const char *name = argc > 1 ? argv[1] : "bpf";
        uint64_t slack_ns = strncmp(name, "bpf", 3) == 0 ? 20 * NS_PER_MS : 40 * NS_PER_MS;
        size_t n_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
        pid_t pid;

        if (collector_open(all_collectors, name, &options, &source) < 0 || cpu_open(options.root_fd, &cpu) < 0 ||
            access(ONLINE, W_OK) < 0 || n_cpus < 2) {
                printf("skipped: needs root, the %s collector, and a second CPU that can be taken offline\n", name);
                return 77;
        }
        atexit(bring_back);
        signal(SIGALRM, bring_back_and_end);
        signal(SIGINT, bring_back_and_end);
        signal(SIGTERM, bring_back_and_end);
        alarm(20);
        pid = start_child();
        if (pid == 0)
                for (;;)
                        ;
        usleep(100 * 1000);
        check_counts(pid, n_cpus, slack_ns);
        if (!set_online("0")) {
                kill(pid, SIGKILL);
                printf("skipped: this machine's second CPU cannot be taken offline\n");
                return 77;
        }
        usleep(150 * 1000);
        check_counts(pid, n_cpus - 1, slack_ns);
        bring_back();
        usleep(150 * 1000);
        check_counts(pid, n_cpus, slack_ns);
        end_child(pid);
        source->ops->close(source);
        cpu->ops->close(cpu);
        if (strcmp(name, "bpf") == 0)
                comes_back_to_another_frequency();
        sample_clear(&sample);
        close(options.root_fd);
        return check_result();
}
