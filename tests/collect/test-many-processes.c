/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * More processes than BPF has records for in one walk (8,192), and than there are descriptors to be kept: each is
 * told of once, with what it used, by all collectors; and those that go are gone.
 */

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
#include "collector.h"
#include "units.h"
#include "util.h"

#define CHILDREN 10500
#define DESCRIPTORS 12000 /* two a process would be 21,000 */
#define WORKING 200
#define KILLED 2000 /* fewer than the ring of ends holds */
#define PATIENCE_NS (150 * NS_PER_S) /* a lazy RCU tells of ends late, and who is gone is waited for for a minute */
#define SPIN_NS (5 * NS_PER_MS)
#define SOURCES_MAX 8

static pid_t children[CHILDREN]; /* ascending, unless their numbers began anew meanwhile */
static bool seen[CHILDREN];
static struct source *sources[SOURCES_MAX];
static struct sample samples[SOURCES_MAX];
static size_t n_sources;

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void live(int go, int told)
{
        char byte;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "one-of-many");
        while (read(go, &byte, 1) == 1) {
                uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + SPIN_NS;

                while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
                        ;
                if (write(told, &byte, 1) != 1)
                        break;
        }
        _exit(0);
}

/* Who is quick takes the bytes of who is slow; some run more than once. */
static void let_work(int go, int told)
{
        char bytes[WORKING] = { 0 };
        ssize_t got = 1;

        check_int(write(go, bytes, sizeof(bytes)), sizeof(bytes));
        for (size_t n = 0; n < sizeof(bytes) && got > 0; n += (size_t)got)
                got = read(told, bytes, sizeof(bytes) - n);
        check(got > 0);
}

static int compare_pids(const void *a, const void *b)
{
        pid_t one = *(const pid_t *)a, other = *(const pid_t *)b;

        return one < other ? -1 : one > other;
}

static void kill_children(size_t from)
{
        for (size_t i = from; i < CHILDREN; i++)
                if (children[i] > 0)
                        kill(children[i], SIGKILL);
        for (size_t i = from; i < CHILDREN; i++)
                if (children[i] > 0)
                        waitpid(children[i], NULL, 0);
}

static bool start_children(int go, int told)
{
        for (size_t i = 0; i < CHILDREN; i++) {
                children[i] = fork();
                if (children[i] == 0)
                        live(go, told);
                if (children[i] < 0) {
                        printf("skipped: no more than %zu processes here: %s\n", i, strerror(errno));
                        kill_children(0);
                        return false;
                }
        }
        qsort(children, CHILDREN, sizeof(children[0]), compare_pids);
        return true;
}

static void read_all(void)
{
        for (size_t i = 0; i < n_sources; i++) {
                sample_reset(&samples[i]);
                check_int(sources[i]->ops->read(sources[i], &samples[i]), 0);
        }
}

/* How many children a collector says live, each once and with its CPU time. */
static size_t count(size_t at)
{
        bool ticks = strcmp(sources[at]->ops->name, "proc") == 0;
        size_t n = 0;

        memset(seen, 0, sizeof(seen));
        for (size_t i = 0; i < samples[at].n_processes; i++) {
                const struct process *process = &samples[at].processes[i];
                const pid_t *child = bsearch(&process->pid, children, CHILDREN, sizeof(children[0]), compare_pids);
                clockid_t clock;

                if (!child || process->ended_ns > 0)
                        continue;
                check(!seen[child - children]);
                seen[child - children] = true;
                n++;
                check_text(process->comm, "one-of-many");
                if (clock_getcpuclockid(process->pid, &clock) == 0)
                        check_near((double)process->cpu_ns, (double)clock_ns(clock), ticks ? 21e6 : 1e6);
        }
        return n;
}

/* All that live are told of, and no others. */
static bool is_right(size_t at, size_t from)
{
        return count(at) == CHILDREN - from && !memchr(seen + from, false, CHILDREN - from);
}

static bool all_right(size_t from)
{
        bool right = true;

        for (size_t i = 0; i < n_sources; i++)
                right = is_right(i, from) && right;
        return right;
}

static void check_alive(size_t from)
{
        for (size_t i = 0; i < n_sources; i++) {
                if (!is_right(i, from))
                        fprintf(stderr, "%s: %zu of %zu\n", sources[i]->ops->name, count(i), CHILDREN - from);
                check(is_right(i, from));
        }
}

static size_t memory_available_kb(void)
{
        char text[8192];
        const char *line;

        if (util_read_at(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) < 0)
                return 0;
        line = strstr(text, "MemAvailable:");
        return line ? strtoul(line + 13, NULL, 10) : 0;
}

int main(void)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        const struct rlimit limit = { .rlim_cur = 1024, .rlim_max = DESCRIPTORS };
        uint64_t killed_ns;
        int go[2], told[2];

        if (memory_available_kb() < 4 * 1024 * 1024 || setrlimit(RLIMIT_NOFILE, &limit) < 0) {
                printf("skipped: 4 GB of memory and %d descriptors are not to be had here\n", DESCRIPTORS);
                return 77;
        }
        check_int(pipe(go), 0);
        check_int(pipe(told), 0);
        if (!start_children(go[0], told[1]))
                return 77;
        for (size_t i = 0; all_collectors[i].name; i++) {
                int err = collector_open(all_collectors, all_collectors[i].name, &options, &sources[n_sources]);

                fprintf(stderr, "%s: %s\n", all_collectors[i].name, err ? strerror(-err) : "loaded");
                n_sources += !err;
        }
        for (int round = 0; round < 3; round++) {
                read_all();
                check_alive(0);
                let_work(go[1], told[0]);
        }
        for (size_t i = 0; i < KILLED; i++)
                kill(children[i], SIGKILL);
        for (size_t i = 0; i < KILLED; i++)
                waitpid(children[i], NULL, 0);
        killed_ns = util_boottime_ns();
        do {
                usleep(200 * 1000);
                read_all();
        } while (!all_right(KILLED) && util_boottime_ns() - killed_ns < PATIENCE_NS);
        check_alive(KILLED);
        for (size_t i = 0; i < n_sources; i++) {
                sources[i]->ops->close(sources[i]);
                sample_clear(&samples[i]);
        }
        kill_children(KILLED);
        return check_result();
}
