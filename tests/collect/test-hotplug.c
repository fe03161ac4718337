/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Collectors go on counting while a CPU of this machine goes offline for a moment.
 * It comes back whatever happens.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "online.h"
#include "process/collector.h"
#include "source/cpu.h"
#include "util/units.h"
#include "util/util.h"

static struct sample sample;
static struct source *cpu, *source;

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

/* The collector's CPU time agrees with the process's own clock within @slack_ns. */
static void check_counts(pid_t pid, size_t n_cpus, uint64_t slack_ns)
{
        uint64_t seen_ns = cpu_ns_of(pid), ran_ns = clock_of(pid);

        check_int(sample.n_cores, n_cpus);
        check_near((double)seen_ns, (double)ran_ns, (double)slack_ns);
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
        promise_to_bring_back(20);
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
        sample_clear(&sample);
        close(options.root_fd);
        return check_result();
}
