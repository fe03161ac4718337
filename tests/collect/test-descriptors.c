/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hundreds of processes and a low limit of descriptors: the readers of /proc need few, and count all. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "process/collector.h"
#include "source/proc.h"
#include "util/units.h"
#include "util/util.h"

#define CHILDREN 400
#define SPIN_NS (5 * NS_PER_MS)
#define NEAR_NS (1 * NS_PER_MS)
#define WRITTEN 8192
#define ROUNDS 3

static pid_t children[CHILDREN];
static int told[2], go[2]; /* a byte from each when it is done; a byte for each to begin */

static uint64_t ran_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void work(int file)
{
        static char bytes[WRITTEN];
        uint64_t end_ns = ran_ns() + SPIN_NS;

        while (ran_ns() < end_ns)
                ;
        if (write(file, bytes, sizeof(bytes)) != sizeof(bytes))
                _exit(1);
}

static void live(void)
{
        int file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        char byte;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
                if (read(go[0], &byte, 1) != 1 || (work(file), write(told[1], &byte, 1)) != 1)
                        _exit(1);
}

static void start_children(void)
{
        check_int(pipe(told), 0);
        check_int(pipe(go), 0);
        for (size_t i = 0; i < CHILDREN; i++) {
                children[i] = start_child();
                if (children[i] == 0)
                        live();
        }
}

/* Fast children take the bytes of slow ones, so that some run more than once and others not at all. */
static void let_work(void)
{
        char bytes[CHILDREN] = { 0 };
        size_t n = 0;

        check_int(write(go[1], bytes, sizeof(bytes)), sizeof(bytes));
        while (n < CHILDREN) {
                ssize_t got = read(told[0], bytes, sizeof(bytes) - n);

                if (got <= 0)
                        break;
                n += (size_t)got;
        }
        check_int(n, CHILDREN);
}

static size_t descriptors(void)
{
        DIR *dir = opendir("/proc/self/fd");
        size_t n = 0;

        while (dir && readdir(dir))
                n++;
        if (dir)
                closedir(dir);
        return n;
}

/* The children's CPU time and bytes: a first sample has all, later ones only those that changed. */
static void add_up(const struct sample *sample, uint64_t *cpu_ns, uint64_t *bytes)
{
        for (size_t i = 0; i < sample->n_processes; i++) {
                const struct process *process = &sample->processes[i];

                for (size_t j = 0; j < CHILDREN; j++) {
                        if (children[j] != process->pid)
                                continue;
                        check(process->have & USAGE_DISK);
                        cpu_ns[j] = process->cpu_ns;
                        bytes[j] = process->write_bytes;
                }
        }
}

static uint64_t true_cpu_ns(pid_t pid)
{
        struct timespec time;
        clockid_t clock;

        if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
                return 0;
        return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static int read_io(pid_t pid, struct proc_io *ret)
{
        char path[32], text[1024];

        snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
        return util_read_at(AT_FDCWD, path, text, sizeof(text)) > 0 && proc_parse_io(text, ret) ? 0 : -EIO;
}

static void check_polls(rlim_t soft, rlim_t hard)
{
        struct rlimit limit = { .rlim_cur = soft, .rlim_max = hard };
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        struct sample sample = { 0 };
        struct source *source = NULL;
        uint64_t cpu_ns[CHILDREN] = { 0 }, bytes[CHILDREN] = { 0 };

        check_int(setrlimit(RLIMIT_NOFILE, &limit), 0);
        check_int(collector_open(all_collectors, "kept", &options, &source), 0);
        for (int round = 1; source && round <= ROUNDS; round++) {
                uint64_t sum = 0;
                struct proc_io io;

                let_work();
                sample_reset(&sample);
                check_int(source->ops->read(source, &sample), 0);
                add_up(&sample, cpu_ns, bytes);
                for (size_t i = 0; i < CHILDREN; i++) {
                        check_near((double)cpu_ns[i], (double)true_cpu_ns(children[i]), (double)NEAR_NS);
                        check_int(read_io(children[i], &io), 0);
                        check_int(bytes[i], io.write_bytes);
                        sum += bytes[i];
                }
                check(sum >= (uint64_t)round * CHILDREN * WRITTEN); /* plus bytes that the file system adds */
                check(descriptors() < 20);
        }
        if (source)
                source->ops->close(source);
        sample_clear(&sample);
        check(descriptors() < 20);
}

/* In a process of its own, since a hard limit does not come back. */
static void check_limits(const char *name, rlim_t soft, rlim_t hard)
{
        int status = -1;
        pid_t pid = start_child();

        if (pid == 0) {
                check_failures = 0;
                start_children();
                check_polls(soft, hard);
                exit(check_failures > 0);
        }
        check_int(waitpid(pid, &status, 0), pid);
        if (status != 0)
                fprintf(stderr, "%s: failed\n", name);
        check_int(status, 0);
}

int main(void)
{
        struct rlimit limit;
        int probe = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        if (probe < 0) {
                printf("skipped: no unnamed files here: %s\n", strerror(errno));
                return 77;
        }
        close(probe);
        check_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
        if (limit.rlim_max < 4 * CHILDREN) {
                printf("skipped: at most %llu descriptors here\n", (unsigned long long)limit.rlim_max);
                return 77;
        }
        check_limits("a soft limit", 64, limit.rlim_max);
        check_limits("a hard limit", 100, 100);
        return check_result();
}
