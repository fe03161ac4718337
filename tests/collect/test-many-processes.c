/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * More processes than BPF has records for in one walk (8,192), and than descriptors can be kept open for: all
 * collectors report each once, with its usage; and those that report ends report the end of each that ends.
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

#include "ends.h"
#include "process/collector.h"
#include "util/units.h"
#include "util/util.h"

#define CHILDREN 10500
#define DESCRIPTORS 12000 /* two a process would be 21,000 */
#define WORKING 200
#define KILLED 2000 /* fewer than the ring of ends holds */
#define LIMIT_S 880 /* less than meson's limit, after which it would not be known what was missing */
#define SPIN_NS (5 * NS_PER_MS)
#define SLACK_NS NS_PER_MS /* a process runs on a little after it was looked at */
#define SOURCES_MAX 8

static pid_t children[CHILDREN]; /* ascending, unless pids wrapped around */
static bool seen[CHILDREN];
static struct source *sources[SOURCES_MAX];
static struct sample samples[SOURCES_MAX];
static size_t n_sources;

static bool ended[SOURCES_MAX][KILLED];
static uint64_t lost[SOURCES_MAX]; /* ends lost for lack of room, before any was killed */
static uint64_t killed_ns = UINT64_MAX, before_ns[KILLED], after_ns[KILLED]; /* boottime; CPU time */

/* The current step, for the message at a time-out, and its progress. */
static const char *doing;
static size_t done, wanted;

static void begin(const char *what, size_t n)
{
        static uint64_t start_ns;

        start_ns = start_ns ? start_ns : util_boottime_ns();
        doing = what;
        done = 0;
        wanted = n;
        fprintf(stderr, "%.1f s: %s\n", (double)(util_boottime_ns() - start_ns) / NS_PER_S, what);
}

/* Ends the test, and with it all its processes. */
static void run_out_of_time(int number)
{
        dprintf(STDERR_FILENO, "failed: after %d s, %zu of %zu done: %s\n", LIMIT_S, done, wanted, doing);
        _exit(1);
}

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

/* Fast children take the bytes of slow ones; some run more than once. */
static void let_work(int go, int told)
{
        char bytes[WORKING] = { 0 };
        ssize_t got = 1;

        begin("some work for 5 ms", WORKING);
        check_int(write(go, bytes, sizeof(bytes)), sizeof(bytes));
        for (; done < wanted && got > 0; done += (size_t)got)
                got = read(told, bytes, wanted - done);
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
        begin("processes start", CHILDREN);
        for (size_t i = 0; i < CHILDREN; i++, done++) {
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

/* Finds one of our children, by its name too: another process may have reused the pid of a killed one. */
static const pid_t *find_child(const struct process *process)
{
        if (strcmp(process->comm, "one-of-many") != 0)
                return NULL;
        return bsearch(&process->pid, children, CHILDREN, sizeof(children[0]), compare_pids);
}

/*
 * Each end of a killed process is reported once, with its time and the usage until then. taskstats reports the
 * lifetime, and /proc the start in whole clock ticks: the end may be up to one tick too early.
 */
static void note_ends(size_t at)
{
        uint64_t early_ns = strcmp(sources[at]->ops->name, "kept") == 0 ? NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK) : 0;

        for (size_t i = 0; i < samples[at].n_processes; i++) {
                const struct process *process = &samples[at].processes[i];
                const pid_t *child = process->ended_ns > 0 ? find_child(process) : NULL;
                size_t n = child ? (size_t)(child - children) : 0;

                if (!child)
                        continue;
                check(n < KILLED);
                if (n >= KILLED)
                        continue;
                check(!ended[at][n]);
                ended[at][n] = true;
                check(process->ended_ns + early_ns >= killed_ns && process->ended_ns <= util_boottime_ns());
                check(process->cpu_ns + SLACK_NS >= before_ns[n]);
                check(process->cpu_ns <= after_ns[n] + SLACK_NS);
        }
}

static void read_all(void)
{
        for (size_t i = 0; i < n_sources; i++) {
                sample_reset(&samples[i]);
                check_int(sources[i]->ops->read(sources[i], &samples[i]), 0);
                note_ends(i);
        }
}

static void kill_some(void)
{
        begin("some are killed", KILLED);
        for (size_t i = 0; i < n_sources; i++)
                lost[i] = sources[i]->lost;
        for (size_t i = 0; i < KILLED; i++) {
                clockid_t clock;

                check_int(clock_getcpuclockid(children[i], &clock), 0);
                before_ns[i] = clock_ns(clock);
        }
        killed_ns = util_boottime_ns();
        for (size_t i = 0; i < KILLED; i++)
                kill(children[i], SIGKILL);
        for (size_t i = 0; i < KILLED; i++, done++) {
                struct rusage used = { 0 };

                check_int(wait4(children[i], NULL, 0, &used), children[i]);
                after_ns[i] = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
                              (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * NS_PER_US;
        }
}

/* Number of children that a collector reports as alive, each once and with its CPU time. */
static size_t count(size_t at)
{
        bool ticks = strcmp(sources[at]->ops->name, "proc") == 0;
        size_t n = 0;

        memset(seen, 0, sizeof(seen));
        for (size_t i = 0; i < samples[at].n_processes; i++) {
                const struct process *process = &samples[at].processes[i];
                const pid_t *child = find_child(process);
                clockid_t clock;

                if (!child || process->ended_ns > 0)
                        continue;
                check(!seen[child - children]);
                seen[child - children] = true;
                n++;
                if (clock_getcpuclockid(process->pid, &clock) == 0)
                        check_near((double)process->cpu_ns, (double)clock_ns(clock), ticks ? 21e6 : 1e6);
        }
        return n;
}

/* Number of ends reported, plus those that were only counted. */
static size_t count_ends(size_t at)
{
        size_t n = (size_t)(sources[at]->lost - lost[at]);

        for (size_t i = 0; i < KILLED; i++)
                n += ended[at][i];
        return n;
}

/* All living children are reported, and no others; and the ends of others, by collectors that report ends. */
static bool is_right(size_t at, size_t from)
{
        return count(at) == CHILDREN - from && !memchr(seen + from, false, CHILDREN - from) &&
               (from == 0 || !(sources[at]->counts & COUNTS_EXITS) || count_ends(at) >= from);
}

static bool all_right(size_t from, size_t *n_ends)
{
        done = *n_ends = 0;
        for (size_t i = 0; i < n_sources; i++) {
                done += is_right(i, from);
                *n_ends += count_ends(i);
        }
        return done == n_sources;
}

static void check_all(size_t from)
{
        for (size_t i = 0; i < n_sources; i++) {
                bool right = is_right(i, from);

                if (!right)
                        fprintf(stderr, "%s: %zu of %zu that live, and %zu of %zu ends (%llu without room)\n",
                                sources[i]->ops->name, count(i), CHILDREN - from, count_ends(i), from,
                                (unsigned long long)(sources[i]->lost - lost[i]));
                check(right);
        }
}

/* @from: those before it were killed. */
static void wait_until_all_right(size_t from)
{
        struct ends_wait wait = { 0 };
        size_t n_ends;

        begin("collectors know of all ends", n_sources);
        do
                read_all();
        while (!all_right(from, &n_ends) && ends_wait(&wait, n_ends, SIZE_MAX));
        check_all(from);
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
        int go[2], told[2];

        if (memory_available_kb() < 4 * 1024 * 1024 || setrlimit(RLIMIT_NOFILE, &limit) < 0) {
                printf("skipped: 4 GB of memory and %d descriptors are not to be had here\n", DESCRIPTORS);
                return 77;
        }
        signal(SIGALRM, run_out_of_time);
        alarm(LIMIT_S);
        check_int(pipe(go), 0);
        check_int(pipe(told), 0);
        if (!start_children(go[0], told[1]))
                return 77;
        for (size_t i = 0; all_collectors[i].name; i++) {
                int err = collector_open(all_collectors, all_collectors[i].name, &options,
                                         &sources[n_sources]);

                fprintf(stderr, "%s: %s\n", all_collectors[i].name, err ? strerror(-err) : "loaded");
                n_sources += !err;
        }
        ends_open();
        for (int round = 0; round < 3; round++) {
                begin("all collectors read", 1);
                read_all();
                check_all(0);
                let_work(go[1], told[0]);
        }
        kill_some();
        wait_until_all_right(KILLED);
        ends_close();
        begin("collectors are closed", n_sources);
        for (size_t i = 0; i < n_sources; i++, done++) {
                sources[i]->ops->close(sources[i]);
                sample_clear(&samples[i]);
        }
        kill_children(KILLED);
        return ends_result();
}
