/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures the CPU time of one poll: collect, subtract, store, in one transaction, by each
 * collector in turn in the same process, with a sleep before each so that caches
 * are as cold as they are in a service. Prints medians and their ratios to plain /proc, and ratios of the lower
 * quartiles: on a machine that builds something most polls have new processes to name.
 *
 * Usage: bench-poll [PROCESSES [POLLS [SLEEP-MS]]]
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "interval/interval.h"
#include "process/collector.h"
#include "source/clock.h"
#include "store/store.h"
#include "util/units.h"
#include "util/util.h"

#define ACTIVE 40        /* processes that do a little between two polls */
#define POLLS_MAX 1000
#define CANDIDATES_MAX 8
#define PEER_PAIRS 3

struct candidate {
        struct apps *apps;
        const char *name;
        struct sources sources;
        struct sample sample;
        struct interval interval;
        struct interval_maker *maker;
        struct store *store;
        char path[64];
        size_t n_rows, n_processes;
        double whole_us[POLLS_MAX], collect_us[POLLS_MAX], subtract_us[POLLS_MAX];
        bool alone; /* CPU time and disk bytes only */
};

static struct candidate candidates[CANDIDATES_MAX];
static size_t n_candidates;

static double cpu_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void remove_database(const struct candidate *candidate)
{
        char lock[sizeof(candidate->path) + 8];

        snprintf(lock, sizeof(lock), "%s-lock", candidate->path);
        unlink(candidate->path);
        unlink(lock);
        rmdir(dirname(lock));
}

static int add(const char *name, const char *collector, uint32_t leave_out, int root_fd)
{
        struct candidate *candidate = &candidates[n_candidates];
        struct collector_options options = { .root_fd = root_fd, .leave_out = leave_out };
        struct source *source = NULL;
        int err = clock_open(root_fd, &source);

        if (!err)
                err = sources_add(&candidate->sources, source);
        if (!err)
                err = apps_new(root_fd, NULL, &candidate->apps);
        options.apps = candidate->apps;
        if (!err)
                err = collector_open(all_collectors, collector, &options, &source);
        if (!err)
                err = sources_add(&candidate->sources, source);
        if (err) {
                fprintf(stderr, "%s does not load: %s\n", name, strerror(-err));
                sources_close(&candidate->sources);
                apps_free(candidate->apps);
                *candidate = (struct candidate){ 0 };
                return err;
        }
        candidate->name = name;
        snprintf(candidate->path, sizeof(candidate->path), "/tmp/bench-poll-%d-%zu/usage.db", (int)getpid(),
                 n_candidates);
        util_make_parent(candidate->path, 0700);
        n_candidates++;
        err = store_open(candidate->path, STORE_WRITE, NULL, &candidate->store);
        return err ? err : interval_maker_new(&candidate->maker);
}

static void drop(struct candidate *candidate)
{
        sources_close(&candidate->sources);
        apps_free(candidate->apps);
        sample_clear(&candidate->sample);
        interval_clear(&candidate->interval);
        interval_maker_free(candidate->maker);
        store_close(candidate->store);
        remove_database(candidate);
}

static void poll_once(struct candidate *candidate, int poll)
{
        double begin_us = cpu_us(), collected_us, subtracted_us;
        int err = sources_read(&candidate->sources, &candidate->sample);

        collected_us = cpu_us();
        candidate->n_processes = candidate->sample.n_processes + candidate->sample.n_unlisted;
        if (!err)
                err = interval_make(candidate->maker, &candidate->sample, &candidate->interval);
        subtracted_us = cpu_us();
        if (!err)
                err = store_append(candidate->store, &candidate->interval);
        if (err && err != -ENODATA) {
                fprintf(stderr, "%s: %s\n", candidate->name, strerror(-err));
                exit(1);
        }
        if (poll < 0)
                return;
        candidate->n_rows = candidate->interval.n_rows;
        candidate->whole_us[poll] = cpu_us() - begin_us;
        candidate->collect_us[poll] = collected_us - begin_us;
        candidate->subtract_us[poll] = subtracted_us - collected_us;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
        qsort(values, (size_t)n, sizeof(*values), compare);
        return values[n / 2];
}

static void spin_us(double us)
{
        double end_us = cpu_us() + us;

        while (cpu_us() < end_us)
                ;
}

static void start_processes(int n)
{
        for (int i = 0; i < n; i++) {
                if (start_child() != 0)
                        continue;
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        if (i % (n / ACTIVE + 1) != 0)
                                pause();
                        spin_us(1500); /* enough for a row */
                        usleep(300 * 1000);
                }
        }
}

/* Other programs that look at all processes once a second; the number of samples ends their arguments. */
static const struct peer {
        const char *package;
        const char *const argv[8];
} peers[] = {
        { "sysstat", { "pidstat", "-dru", "-p", "ALL", "1" } },
        { "procps", { "top", "-b", "-d", "1", "-n" } },
        { "atop", { "atop", "1" } },
};

/* CPU time of one run; negative: it is not there. */
static double run_peer_us(const struct peer *peer, const char *samples)
{
        struct rusage used = { 0 };
        int status = -1;
        pid_t pid = start_child();

        if (pid == 0) {
                const char *argv[ARRAY_SIZE(peer->argv) + 2] = { 0 };
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);
                size_t n = 0;

                for (; peer->argv[n]; n++)
                        argv[n] = peer->argv[n];
                argv[n] = samples;
                if (null >= 0) {
                        dup2(null, STDIN_FILENO);
                        dup2(null, STDOUT_FILENO);
                        dup2(null, STDERR_FILENO);
                }
                execvp(argv[0], (char *const *)argv);
                _exit(1);
        }
        if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0)
                return -1;
        return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* One sample more: the difference of a long run and a short one, the median of several. */
static void compare_to_peer(const struct peer *peer, double reference_us, const char *name)
{
        double sample_us[PEER_PAIRS], middle_us;

        for (int i = 0; i < PEER_PAIRS; i++) {
                double short_us = run_peer_us(peer, "1"), long_us = run_peer_us(peer, "9");

                if (short_us < 0 || long_us < 0) {
                        printf("%s is not installed (package %s) or does not run: nothing to compare with\n",
                               peer->argv[0], peer->package);
                        return;
                }
                sample_us[i] = (long_us - short_us) / 8;
        }
        middle_us = median(sample_us, PEER_PAIRS);
        printf("a sample of %-16s %9s %9.0f   a poll of \"%s\" is 1 in %.1f of it\n", peer->argv[0], "",
               middle_us, name, middle_us / reference_us);
}

int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 500, polls = argc > 2 ? atoi(argv[2]) : 20;
        int sleep_ms = argc > 3 ? atoi(argv[3]) : 1000,
            root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        double reference, calm_reference = 0, last = 0;

        polls = MIN(MAX(polls, 1), POLLS_MAX);
        start_processes(n);
        usleep(500 * 1000);
        if (add("plain /proc", "proc", 0, root_fd) < 0)
                return 1;
        add("changed alone", "kept", 0, root_fd);
        add("BPF iterator, CPU and disk", "bpf-iter", COUNTS_NET | COUNTS_OPPS | COUNTS_EXITS, root_fd);
        add("BPF walk, CPU and disk", "bpf", COUNTS_NET | COUNTS_OPPS | COUNTS_EXITS, root_fd);
        add("BPF walk, everything", "bpf", 0, root_fd);
        for (int poll = -2; poll < polls; poll++) {
                for (size_t i = 0; i < n_candidates; i++) {
                        usleep((useconds_t)sleep_ms * 1000 / (useconds_t)n_candidates);
                        poll_once(&candidates[i], poll);
                }
        }
        printf("%-28s %9s %9s %9s %9s %9s %6s %9s %6s %6s\n", "collector", "processes", "poll us", "collect",
               "subtract", "ratio", "1 in", "calm us", "1 in", "rows");
        reference = 0;
        for (size_t i = 0; i < n_candidates; i++) {
                struct candidate *candidate = &candidates[i];
                double whole = median(candidate->whole_us, polls), calm = candidate->whole_us[polls / 4];

                if (i == 0) {
                        reference = whole;
                        calm_reference = calm;
                }
                last = whole;
                printf("%-28s %9zu %9.0f %9.0f %9.0f %9.4f %6.1f %9.0f %6.1f %6zu\n", candidate->name,
                       candidate->n_processes, whole, median(candidate->collect_us, polls),
                       median(candidate->subtract_us, polls), whole / reference, reference / whole, calm,
                       calm_reference / calm, candidate->n_rows);
        }
        fflush(stdout);
        for (size_t i = 0; i < ARRAY_SIZE(peers); i++)
                compare_to_peer(&peers[i], last, candidates[n_candidates - 1].name);
        for (size_t i = 0; i < n_candidates; i++)
                drop(&candidates[i]);
        /* the children die with us */
        return 0;
}
