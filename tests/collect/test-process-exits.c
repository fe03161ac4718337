/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Nothing is lost at exit: processes that live for milliseconds between two
 * polls, threads, a process that becomes another program, and many more
 * processes than a walk has room for.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "ends.h"
#include "interval/interval.h"
#include "process/collector.h"
#include "util/units.h"
#include "util/util.h"

#define SHORT_LIVED 1000
#define SHORT_LIVED_NS (2 * NS_PER_MS)

/*
 * Taskstats are made at the beginning of an exit and lack the time since the last tick; the parent's counters of reaped
 * children have it, in two numbers of 10 ms.
 */
static uint64_t grain_ns;

static void check_sum(uint64_t sum_ns, uint64_t ran_ns)
{
        check_near((double)sum_ns, (double)ran_ns, 0.01 * (double)ran_ns + (double)grain_ns);
}

static struct source *source;
static struct sample sample;

static void spin_by(clockid_t clock, uint64_t ns)
{
        struct timespec now;
        uint64_t end_ns = 0, now_ns;

        do {
                clock_gettime(clock, &now);
                now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
                end_ns = end_ns ? end_ns : now_ns + ns;
        } while (now_ns < end_ns);
}

/* Not by its own CPU time: whoever asks for that has the kernel add up what else it does at a tick. */
static void spin(uint64_t ns)
{
        spin_by(CLOCK_MONOTONIC, ns);
}

static void poll_once(void)
{
        sample_reset(&sample);
        check_int(source->ops->read(source, &sample), 0);
}

static uint64_t children_ns(void)
{
        struct rusage usage;

        getrusage(RUSAGE_CHILDREN, &usage);
        return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_S +
               ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * NS_PER_US;
}

/* @n: counts those that ended. */
static uint64_t sum_of(const char *comm, size_t *n)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < sample.n_processes; i++) {
                if (strcmp(sample.processes[i].comm, comm) != 0)
                        continue;
                sum += sample.processes[i].cpu_ns;
                if (n)
                        *n += sample.processes[i].ended_ns > 0;
        }
        return sum;
}

/* Polls until @wanted ends of @comm have been reported; adds those to @n. Returns the sum of their CPU time. */
static uint64_t sum_of_ended(const char *comm, size_t wanted, size_t *n)
{
        struct ends_wait wait = { 0 };
        uint64_t sum_ns = 0;

        do {
                poll_once();
                sum_ns += sum_of(comm, n);
        } while (ends_wait(&wait, *n, wanted));
        return sum_ns;
}

static void test_short_lived(void)
{
        uint64_t before_ns = children_ns(), ran_ns;
        size_t n = 0;

        poll_once();
        for (int i = 0; i < SHORT_LIVED; i++) {
                pid_t pid = start_child();

                if (pid == 0) {
                        prctl(PR_SET_NAME, "short-lived");
                        spin(SHORT_LIVED_NS);
                        _exit(0);
                }
                waitpid(pid, NULL, 0);
        }
        ran_ns = children_ns() - before_ns;
        check_sum(sum_of_ended("short-lived", SHORT_LIVED, &n), ran_ns);
        check_near((double)n, SHORT_LIVED, SHORT_LIVED / 100);
        poll_once();
        n = 0;
        (void)sum_of("short-lived", &n);
        check(n <= SHORT_LIVED / 100); /* each is reported once */
}

static void *spin_thread(void *data)
{
        spin(3 * NS_PER_MS);
        return data;
}

static void test_threads(void)
{
        uint64_t before_ns = children_ns(), ran_ns;
        pid_t pid = start_child();
        size_t n = 0;

        if (pid == 0) {
                prctl(PR_SET_NAME, "with-threads");
                for (int i = 0; i < 20; i++) {
                        pthread_t thread;

                        pthread_create(&thread, NULL, spin_thread, NULL);
                        pthread_join(thread, NULL);
                }
                _exit(0);
        }
        waitpid(pid, NULL, 0);
        ran_ns = children_ns() - before_ns;
        check_sum(sum_of_ended("with-threads", 1, &n), ran_ns);
}

#define GENERATION 200

/* They and their parent end between two polls: what it had of them is its own parent's then. */
static void test_generations(void)
{
        uint64_t before_ns = children_ns(), ran_ns, sum_ns = 0;
        struct ends_wait wait = { 0 };
        size_t n = 0;
        pid_t pid;

        poll_once();
        pid = start_child();
        if (pid == 0) {
                prctl(PR_SET_NAME, "grandparent");
                for (int i = 0; i < GENERATION; i++) {
                        pid_t child = start_child();

                        if (child == 0) {
                                prctl(PR_SET_NAME, "grandchild");
                                spin(SHORT_LIVED_NS);
                                _exit(0);
                        }
                        waitpid(child, NULL, 0);
                }
                _exit(0);
        }
        waitpid(pid, NULL, 0);
        ran_ns = children_ns() - before_ns;
        do {
                poll_once();
                sum_ns += sum_of("grandparent", &n) + sum_of("grandchild", &n);
        } while (ends_wait(&wait, n, GENERATION + 1));
        check_sum(sum_ns, ran_ns);
}

/* A shell that works, and then becomes another program that works: two rows, and their sum is what ran. */
static void test_exec(void)
{
        uint64_t before_ns = children_ns(), ran_ns, first_ns = 0, second_ns = 0;
        struct ends_wait wait = { 0 };
        int go[2], done[2];
        size_t n = 0;
        char byte = 0;
        pid_t pid;

        if (pipe(go) < 0 || pipe(done) < 0)
                exit(1);
        pid = start_child();
        if (pid == 0) {
                prctl(PR_SET_NAME, "launcher");
                spin_by(CLOCK_THREAD_CPUTIME_ID, 60 * NS_PER_MS);
                (void)!write(done[1], &byte, 1);
                (void)!read(go[0], &byte, 1);
                spin_by(CLOCK_THREAD_CPUTIME_ID, 40 * NS_PER_MS);
                execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done", NULL);
                _exit(1);
        }
        check_int(read(done[0], &byte, 1), 1);
        poll_once();
        check(sum_of("launcher", NULL) >= 60 * NS_PER_MS);
        check_int(write(go[1], &byte, 1), 1);
        waitpid(pid, NULL, 0);
        ran_ns = children_ns() - before_ns;
        do {
                poll_once();
                for (size_t i = 0; i < sample.n_processes; i++) {
                        const struct process *process = &sample.processes[i];

                        if (process->pid != pid || process->ended_ns == 0)
                                continue;
                        n++;
                        *(strcmp(process->comm, "launcher") == 0 ? &first_ns : &second_ns) += process->cpu_ns;
                }
        } while (ends_wait(&wait, n, 2));
        check_near((double)first_ns, 102e6, 8e6); /* a tick of 4 ms is not yet counted at the exec */
        check(second_ns > 10 * NS_PER_MS);
        check_near((double)(first_ns + second_ns), (double)ran_ns, 0.01 * (double)ran_ns);
}

#define MORE_THAN_THE_RING_HOLDS 4000
static unsigned long long lost;

static void hear_of_lost(void *data, enum log_level level, const char *text)
{
        unsigned long long n;

        if (sscanf(text, "%llu processes ended", &n) == 1)
                lost += n;
}

static void run_one(void)
{
        pid_t pid = vfork();

        if (pid == 0)
                _exit(0);
        waitpid(pid, NULL, 0);
}

/* Each process is in a sample, or its number in the log: it is in the sum of its user. */
static void test_lost(void)
{
        struct ends_wait wait = { 0 };
        size_t n = 0;

        poll_once();
        for (int i = 0; i < MORE_THAN_THE_RING_HOLDS; i++)
                run_one();
        ends_barrier(); /* all before the first poll */
        do {
                poll_once();
                (void)sum_of("test-process-ex", &n);
        } while (ends_wait(&wait, n + lost, MORE_THAN_THE_RING_HOLDS));
        fprintf(stderr, "%zu seen, %llu told of\n", n, lost);
        check(lost > 0);
        check_int(source->lost, 0);
        check(n + lost >= MORE_THAN_THE_RING_HOLDS * 99 / 100);
}

#define MORE_THAN_THE_SOCKET_HOLDS 12000

/* Its thread has ended, and it waits. */
static pid_t start_waiting(int *go)
{
        int go_on[2], done[2];
        char byte = 0;
        pid_t pid;

        if (pipe(go_on) < 0 || pipe(done) < 0)
                exit(1);
        pid = start_child();
        if (pid == 0) {
                pthread_t thread;

                for (int i = 0; i < 100; i++)
                        if (pthread_create(&thread, NULL, spin_thread, NULL) == 0)
                                pthread_join(thread, NULL);
                (void)!write(done[1], &byte, 1);
                (void)!read(go_on[0], &byte, 1);
                _exit(0);
        }
        check_int(read(done[0], &byte, 1), 1);
        close(done[0]);
        close(done[1]);
        close(go_on[0]);
        *go = go_on[1];
        return pid;
}

/* Runs 20 ms as the next process of this pid; false: another took it. */
static bool run_as(pid_t pid)
{
        FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");
        pid_t child;

        if (!file)
                return false;
        fprintf(file, "%d", (int)pid - 1);
        fclose(file);
        child = start_child();
        if (child == 0) {
                prctl(PR_SET_NAME, getpid() == pid ? "heir" : "other");
                spin_by(CLOCK_THREAD_CPUTIME_ID, 20 * NS_PER_MS);
                _exit(0);
        }
        waitpid(child, NULL, 0);
        return child == pid;
}

/* Its own end was lost with many others': the next process of its pid does not inherit what its threads had. */
static void test_lost_end(void)
{
        uint64_t sum_ns;
        bool reused = false;
        int go;
        pid_t pid;

        poll_once();
        pid = start_waiting(&go);
        for (int i = 0; i < MORE_THAN_THE_SOCKET_HOLDS; i++)
                run_one();
        check_int(write(go, "", 1), 1);
        waitpid(pid, NULL, 0);
        close(go);
        for (int i = 0; i < 3; i++)
                poll_once();
        check(source->lost > 0);
        for (int i = 0; i < 100 && !reused; i++)
                reused = run_as(pid);
        check(reused);
        poll_once();
        sum_ns = sum_of("heir", NULL);
        fprintf(stderr, "of the next: %.1f ms\n", (double)sum_ns / 1e6);
        check(sum_ns >= 20 * NS_PER_MS && sum_ns < 60 * NS_PER_MS);
}

int main(int argc, char **argv)
{
        const struct log log = { hear_of_lost, NULL };
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                             .log = &log };
        const char *name = argc > 1 ? argv[1] : "bpf";
        int err = collector_open(all_collectors, name, &options, &source);
        bool kept;

        if (err || !(source->counts & COUNTS_EXITS)) {
                printf("skipped: %s does not load here, or is not told of exits: %s\n", name, strerror(-err));
                return 77;
        }
        ends_open();
        kept = strcmp(name, "kept") == 0;
        grain_ns = kept ? 20 * NS_PER_MS : 0;
        if (!kept)
                test_lost();
        test_short_lived();
        test_threads();
        test_generations();
        if (kept)
                test_lost_end();
        if (!kept) /* it is not told of an exec */
                test_exec();
        ends_close();
        source->ops->close(source);
        sample_clear(&sample);
        return ends_result();
}
