/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * All collectors side by side on the same children: the same processes, the
 * same bytes, the same CPU time to the tick.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "process/collector.h"
#include "util/units.h"
#include "util/util.h"

#define SOURCES_MAX 8
#define TICK_NS (10 * NS_PER_MS)

static struct source *sources[SOURCES_MAX];
static struct sample samples[SOURCES_MAX];
static size_t n_sources;

static uint64_t cpu_clock_ns(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
        uint64_t end_ns = cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

        while (cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                ;
}

static void *spin_thread(void *ns)
{
        spin((uint64_t)(uintptr_t)ns);
        return NULL;
}

static void *wait_for_ever(void *data)
{
        for (;;)
                pause();
        return data;
}

static void *spin_thread_and_stay(void *ns)
{
        return wait_for_ever(spin_thread(ns));
}

static void use_one_thread(void)
{
        spin(230 * NS_PER_MS);
}

/* The next thread's number is not next to this one's. */
static void start_another(void)
{
        if (start_child() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                wait_for_ever(NULL);
        }
}

/* One thread has ended, others live on: all count, wherever the kernel shows their CPU time. */
static void use_threads(void)
{
        pthread_t thread;

        start_another();

        pthread_create(&thread, NULL, spin_thread, (void *)(uintptr_t)(120 * NS_PER_MS));
        pthread_join(thread, NULL);
        start_another();
        pthread_create(&thread, NULL, spin_thread_and_stay, (void *)(uintptr_t)(80 * NS_PER_MS));
        spin(50 * NS_PER_MS);
        usleep(200 * 1000);
}

static void use_disk(void)
{
        char path[] = "collectors-XXXXXX", block[65536];
        int fd = mkstemp(path);

        memset(block, 7, sizeof(block));
        unlink(path);
        for (int i = 0; i < 32; i++)
                if (write(fd, block, sizeof(block)) < 0)
                        _exit(1);
        fsync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        lseek(fd, 0, SEEK_SET);
        while (read(fd, block, sizeof(block)) > 0)
                ;
}

/* Its bytes are the child's, also after the parent has reaped it. */
static void use_child_that_writes(void)
{
        pid_t pid = start_child();

        if (pid == 0) {
                use_disk();
                _exit(0);
        }
        waitpid(pid, NULL, 0);
}

static const struct work {
        const char *name;
        void (*run)(void);
        uint64_t cpu_ns;
        uint64_t least_bytes;
} works[] = {
        { "spin) (x", use_one_thread, 230 * NS_PER_MS, 0 },
        { "threads", use_threads, 250 * NS_PER_MS, 0 },
        { "disk", use_disk, 0, 32 * 65536 },
};

/* A parent's /proc/PID/io includes reaped children; only collectors that are told of exits can subtract them. */
static const struct work parent_work = { "parent", use_child_that_writes, 0, 0 };

/* Starts a process that does @work, reports that, and stays until it is killed. */
static pid_t start(const struct work *work)
{
        int done[2];
        char byte = 0;
        pid_t pid;

        if (pipe(done) < 0)
                exit(1);
        pid = start_child();
        if (pid == 0) {
                prctl(PR_SET_NAME, work->name);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                work->run();
                if (write(done[1], &byte, 1) < 0)
                        _exit(1);
                for (;;)
                        pause();
        }
        close(done[1]);
        check_int(read(done[0], &byte, 1), 1);
        close(done[0]);
        return pid;
}

static const struct process *find(const struct sample *sample, pid_t pid)
{
        for (size_t i = 0; i < sample->n_processes; i++)
                if (sample->processes[i].pid == pid)
                        return &sample->processes[i];
        return NULL;
}

static void read_all(void)
{
        for (size_t i = 0; i < n_sources; i++) {
                sample_reset(&samples[i]);
                check_int(sources[i]->ops->read(sources[i], &samples[i]), 0);
        }
}

static void check_same(const struct work *work, pid_t pid)
{
        const struct process *first = find(&samples[0], pid);

        for (size_t i = 0; i < n_sources; i++) {
                const struct process *process = find(&samples[i], pid);

                if (!process) {
                        fprintf(stderr, "%s does not see %s\n", sources[i]->ops->name, work->name);
                        check(process);
                        continue;
                }
                check_text(process->comm, work->name);
                check_int(process->uid, getuid());
                check_int(process->start_time, first->start_time);
                check_near((double)process->cpu_ns, (double)first->cpu_ns, 2.0 * TICK_NS);
                if (work->cpu_ns > 0)
                        check_near((double)process->cpu_ns, (double)work->cpu_ns, 0.1 * (double)work->cpu_ns);
                check_int(process->read_bytes, first->read_bytes);
                check_int(process->write_bytes, first->write_bytes);
                check(process->write_bytes >= work->least_bytes);
        }
}

static void check_parent(pid_t pid)
{
        for (size_t i = 0; i < n_sources; i++) {
                const struct process *process = find(&samples[i], pid);

                check(process);
                if (process && (sources[i]->counts & COUNTS_EXITS)) {
                        check_int(process->write_bytes, 0);
                        check_int(process->read_bytes, 0);
                }
        }
}

/* A sample is ascending by pid, and totals only grow. */
static void check_order(void)
{
        for (size_t i = 0; i < n_sources; i++)
                for (size_t j = 1; j < samples[i].n_processes; j++)
                        check(samples[i].processes[j - 1].pid <= samples[i].processes[j].pid);
}

int main(int argc, char **argv)
{
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        struct apps *apps[8] = { NULL };
        pid_t pids[ARRAY_SIZE(works)], parent;

        for (size_t i = 0; all_collectors[i].name; i++) {
                int err = apps_new(options.root_fd, NULL, &apps[i]);

                check_int(err, 0);
                options.apps = apps[i];
                err = collector_open(all_collectors, all_collectors[i].name, &options, &sources[n_sources]);
                fprintf(stderr, "%s: %s\n", all_collectors[i].name, err ? strerror(-err) : "loaded");
                if (!err)
                        n_sources++;
        }
        read_all();
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                pids[i] = start(&works[i]);
        parent = start(&parent_work);
        usleep(100 * 1000); /* RCU: the end of the reaped child is reported some ms later */
        read_all();
        read_all();
        check_order();
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                check_same(&works[i], pids[i]);
        check_parent(parent);
        end_child(parent);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                end_child(pids[i]);
        for (size_t i = 0; i < n_sources; i++) {
                sources[i]->ops->close(sources[i]);
                sample_clear(&samples[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(apps); i++)
                apps_free(apps[i]);
        return check_result();
}
