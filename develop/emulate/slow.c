/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quota.h"
#include "reached.h"
#include "record.h"
#include "schedstat.h"
#include "util/units.h"
#include "util/util.h"

#define TURN_NS INT64_C(1000000)    /* interval at which running processes are checked */
#define CREDIT_NS INT64_C(5000000)  /* a thread saves up at most its part of so much wall time */
#define LOOK_NS INT64_C(4000000)    /* interval at which new threads get their own quota; until then they share one */
#define PROCESSES_MAX 1024
#define THREADS_MAX 256

struct thread {
        pid_t tid;
        int64_t ran_ns, waited_ns; /* by schedstat_read() */
        int64_t credit_ns;  /* CPU time that it may still use; below 0: it used too much */
};

struct process {
        pid_t pid;
        bool stopped, seen;
        bool wanting;       /* one of its threads ran or waited for a CPU at the stop */
        int64_t since_ns;   /* time of the stop */
        struct reached_stops stops; /* all stops that are over */
        int64_t cpu_ns;     /* CPU time of all its threads, by the process's clock */
        int64_t credit_ns;  /* credit of the thread with the least credit; an estimate while the process runs */
        int64_t ran_ns;     /* CPU time since the last stop */
        int64_t told_ns;    /* CPU time that is in records already */
        char name[RECORD_TASK_MAX];
        int64_t looked_ns;  /* when its threads were last read, since the run began */
        struct thread *threads;
        size_t n_threads;
};

struct slow {
        struct slow_plan plan;
        struct process *list;
        size_t n;
        int64_t before_ns, traced_ns, now_ns;
        int64_t all_credit_ns;  /* CPU time that all threads together may still use on the target's CPUs */
        int64_t ended_ns;       /* CPU time of processes that ended, with their children */
        int64_t most_ns;        /* the largest total so far */
        struct reached *reached; /* NULL: no process is stopped, so nothing is measured */
};

int slow_new(const struct slow_plan *plan, struct slow **ret)
{
        struct slow *slow = calloc(1, sizeof(*slow));

        if (!slow)
                return -ENOMEM;
        slow->list = calloc(PROCESSES_MAX, sizeof(*slow->list));
        slow->reached = reached_new(plan->cpus);
        if (!slow->list || !slow->reached) {
                slow_free(slow);
                return -ENOMEM;
        }
        slow->plan = *plan;
        *ret = slow;
        return 0;
}

void slow_free(struct slow *slow)
{
        for (size_t i = 0; slow && i < slow->n; i++)
                free(slow->list[i].threads);
        if (slow) {
                free(slow->list);
                reached_free(slow->reached);
        }
        free(slow);
}

static bool is_other(const struct slow *slow, pid_t pid)
{
        for (size_t i = 0; i < slow->plan.n_others; i++)
                if (slow->plan.others[i] == pid)
                        return true;
        return pid == 1;
}

static struct process *find(struct slow *slow, pid_t pid)
{
        for (size_t i = 0; i < slow->n; i++)
                if (slow->list[i].pid == pid)
                        return &slow->list[i];
        return NULL;
}

static void look_for_processes(struct slow *slow)
{
        DIR *dir = opendir("/proc");
        struct dirent *entry;

        for (size_t i = 0; i < slow->n; i++)
                slow->list[i].seen = false;
        while (dir && (entry = readdir(dir))) {
                pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
                struct process *process = pid > 0 ? find(slow, pid) : NULL;

                if (pid > 0 && !process && slow->n < PROCESSES_MAX && !is_other(slow, pid)) {
                        process = &slow->list[slow->n++];
                        *process = (struct process){ .pid = pid, .looked_ns = slow->before_ns };
                }
                if (process)
                        process->seen = true;
        }
        if (dir)
                closedir(dir);
        for (size_t i = 0; i < slow->n;) {
                if (slow->list[i].seen || !dir) {
                        i++;
                        continue;
                }
                free(slow->list[i].threads);
                slow->list[i] = slow->list[--slow->n];
        }
}

/* Writes a record of a process's CPU time since the last one. Its name is read anew, as exec() may change it. */
static void tell(struct slow *slow, struct process *process, int64_t cpu_ns)
{
        struct task_record record;
        char path[64];

        if (cpu_ns <= process->told_ns)
                return;
        memset(&record, 0, sizeof(record)); /* with the padding between its members */
        record.time_ns = slow->now_ns;
        record.cpu_ns = cpu_ns - process->told_ns;
        record.pid = process->pid;
        snprintf(path, sizeof(path), "/proc/%d/comm", process->pid);
        if (util_read_at(AT_FDCWD, path, record.name, sizeof(record.name)) > 0) {
                record.name[strcspn(record.name, "\n")] = '\0';
                memcpy(process->name, record.name, sizeof(process->name));
        } else {
                memcpy(record.name, process->name, sizeof(record.name));
        }
        process->told_ns = cpu_ns;
        (void)!write(slow->plan.tasks, &record, sizeof(record));
}

void slow_ending(struct slow *slow, pid_t pid, int64_t now_ns)
{
        struct process *process = find(slow, pid);

        if (!process && slow->n < PROCESSES_MAX && !is_other(slow, pid)) {
                process = &slow->list[slow->n++];
                *process = (struct process){ .pid = pid };
        }
        slow->now_ns = now_ns;
        if (process)
                tell(slow, process, schedstat_cpu_ns(pid));
}

void slow_ended(struct slow *slow, pid_t pid, int64_t cpu_ns)
{
        struct process *process = find(slow, pid);

        slow->ended_ns += cpu_ns;
        if (process) {
                free(process->threads);
                *process = slow->list[--slow->n];
        }
}

static int64_t most_credit_ns(const struct slow *slow)
{
        return (int64_t)((double)CREDIT_NS / slow->plan.factor);
}

/*
 * Credits a thread with its part of the time that passed, less its CPU time. It can save up only little credit that it
 * did not need, but credit that it could not use, as others had the CPU, is kept.
 */
static void pay(const struct slow *slow, struct thread *thread, int64_t passed_ns, int64_t ran_ns, int64_t waited_ns)
{
        int64_t most_ns = most_credit_ns(slow), lost_ns;

        thread->credit_ns += (int64_t)((double)passed_ns / slow->plan.factor) - ran_ns;
        lost_ns = thread->credit_ns - most_ns;
        if (lost_ns > 0)
                thread->credit_ns = most_ns + MIN(lost_ns, (int64_t)((double)waited_ns / slow->plan.factor));
}

static const struct thread *find_thread(const struct process *process, pid_t tid)
{
        for (size_t i = 0; i < process->n_threads; i++)
                if (process->threads[i].tid == tid)
                        return &process->threads[i];
        return NULL;
}

/*
 * Updates a thread's CPU time and credit. The clock of a process with one thread is exact at any time, schedstat only
 * after the process was stopped.
 */
static void update_thread(const struct slow *slow, const struct process *process, int64_t passed_ns,
                          struct thread *thread)
{
        const struct thread *old = find_thread(process, thread->tid);
        int64_t ran_ns, waited_ns = thread->waited_ns - (old ? old->waited_ns : 0);

        if (process->cpu_ns > thread->ran_ns && process->n_threads <= 1 && thread->tid == process->pid)
                thread->ran_ns = process->cpu_ns;
        ran_ns = MAX(thread->ran_ns - (old ? old->ran_ns : 0), 0);
        thread->credit_ns = old ? old->credit_ns : 0;
        pay(slow, thread, old ? passed_ns : MIN(passed_ns, CREDIT_NS), ran_ns, waited_ns);
}

/* Reads all threads of a process that was just stopped, and the least credit of them. */
static void look_at_threads(struct slow *slow, struct process *process, int64_t now_ns)
{
        struct thread *threads = calloc(THREADS_MAX, sizeof(*threads));
        int64_t passed_ns = now_ns - process->looked_ns, least_ns = INT64_MAX;
        size_t n = 0;
        char path[64];
        struct dirent *entry;
        DIR *dir;

        snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
        dir = threads ? opendir(path) : NULL;
        while (dir && n < THREADS_MAX && (entry = readdir(dir))) {
                pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

                threads[n] = (struct thread){ .tid = tid };
                if (tid <= 0 || schedstat_read(tid, &threads[n].ran_ns, &threads[n].waited_ns) < 0)
                        continue;
                update_thread(slow, process, passed_ns, &threads[n]);
                least_ns = MIN(least_ns, threads[n++].credit_ns);
        }
        if (dir)
                closedir(dir);
        if (n == 0) {
                free(threads);
                return;
        }
        free(process->threads);
        process->threads = threads;
        process->n_threads = n;
        process->credit_ns = least_ns;
        process->looked_ns = now_ns;
}

/* Counts the CPU time of all threads of a process since the last call, and returns it. */
static int64_t count(struct slow *slow, struct process *process)
{
        int64_t cpu_ns = schedstat_cpu_ns(process->pid), ran_ns = MAX(cpu_ns - process->cpu_ns, INT64_C(0));

        process->cpu_ns += ran_ns;
        process->ran_ns += ran_ns;
        slow->all_credit_ns -= ran_ns;
        return ran_ns;
}

/* Does a thread run, or wait for a CPU? */
static bool is_wanting(const struct process *process)
{
        if (schedstat_state(process->pid) == 'R')
                return true;
        for (size_t i = 0; i < process->n_threads; i++)
                if (process->threads[i].tid != process->pid && schedstat_state(process->threads[i].tid) == 'R')
                        return true;
        return false;
}

static void stop(struct slow *slow, struct process *process, int64_t now_ns)
{
        process->wanting = is_wanting(process);
        if (kill(process->pid, SIGSTOP) < 0)
                return;
        process->stopped = true;
        process->since_ns = now_ns;
        (void)count(slow, process);
        process->ran_ns = 0;
        look_at_threads(slow, process, now_ns);
}

/* Estimates a process's credit after some time, in which no single thread can have run for longer than that time. */
static void account(struct slow *slow, struct process *process, int64_t passed_ns)
{
        struct thread guess = { .credit_ns = process->credit_ns };

        pay(slow, &guess, passed_ns, MIN(count(slow, process), MAX(passed_ns, TURN_NS)), 0);
        process->credit_ns = guess.credit_ns;
}

static void add_stop(const struct process *process, int64_t now_ns, struct reached_stops *stops)
{
        stops->stopped_ns += now_ns - process->since_ns;
        stops->wanting_ns += process->wanting ? now_ns - process->since_ns : 0;
}

/* Stops and continues processes. Returns when to call it again. */
static int64_t hold(struct slow *slow, int64_t now_ns)
{
        int64_t passed_ns = now_ns - slow->before_ns, next_ns = now_ns + TURN_NS;
        double factor = slow->plan.factor, share = slow->plan.cpus / factor;
        int64_t most_ns = (int64_t)((double)CREDIT_NS * share);

        slow->all_credit_ns = MIN(slow->all_credit_ns + (int64_t)((double)passed_ns * share), most_ns);
        for (size_t i = 0; i < slow->n; i++) {
                struct process *process = &slow->list[i];

                account(slow, process, passed_ns);
                if (!process->stopped && (process->credit_ns < 0 || (slow->all_credit_ns < 0 && process->ran_ns > 0)))
                        stop(slow, process, now_ns);
        }
        for (size_t i = 0; i < slow->n; i++) {
                struct process *process = &slow->list[i];
                int64_t wait_ns = (int64_t)MAX((double)-process->credit_ns * factor,
                                               (double)-slow->all_credit_ns / share);

                if (!process->stopped)
                        continue;
                if (wait_ns <= 0 && kill(process->pid, SIGCONT) == 0) {
                        process->stopped = false;
                        add_stop(process, now_ns, &process->stops);
                } else
                        next_ns = MIN(next_ns, now_ns + MAX(wait_ns, TURN_NS / 10));
        }
        slow->before_ns = now_ns;
        return next_ns;
}

/* Gives every thread its group. Returns when to call it again. */
static int64_t spread(struct slow *slow, int64_t now_ns)
{
        quota_begin(slow->plan.quota);
        for (size_t i = 0; i < slow->n; i++) {
                char path[64];
                struct dirent *entry;
                DIR *dir;

                snprintf(path, sizeof(path), "/proc/%d/task", slow->list[i].pid);
                dir = opendir(path);
                while (dir && (entry = readdir(dir))) {
                        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

                        if (tid > 0)
                                (void)quota_thread(slow->plan.quota, tid);
                }
                if (dir)
                        closedir(dir);
        }
        quota_end(slow->plan.quota);
        quota_settle(slow->plan.quota, now_ns);
        return now_ns + LOOK_NS;
}

static void trace(struct slow *slow, int64_t now_ns)
{
        struct cpu_record record = { now_ns, slow->ended_ns };

        for (size_t i = 0; i < slow->n; i++) {
                struct process *process = &slow->list[i];
                int64_t cpu_ns = schedstat_cpu_ns(process->pid);

                record.cpu_ns += MAX(cpu_ns, process->cpu_ns) + schedstat_children_ns(process->pid);
                tell(slow, process, cpu_ns);
        }
        slow->most_ns = record.cpu_ns = MAX(record.cpu_ns, slow->most_ns);
        slow->traced_ns = now_ns;
        (void)!write(slow->plan.log, &record, sizeof(record));
}

/* Measures how much slower the stopped threads are. */
static void measure(struct slow *slow, int64_t now_ns)
{
        for (size_t i = 0; i < slow->n; i++) {
                const struct process *process = &slow->list[i];

                struct reached_stops stops = process->stops;

                if (process->stopped)
                        add_stop(process, now_ns, &stops);
                reached_look(slow->reached, process->pid, &stops, now_ns);
        }
        reached_settle(slow->reached, now_ns);
}

int64_t slow_turn(struct slow *slow, int64_t now_ns)
{
        int64_t next_ns, trace_ns = slow->traced_ns + SLOW_TRACE_MS * (int64_t)NS_PER_MS;

        slow->now_ns = now_ns;
        look_for_processes(slow);
        next_ns = slow->plan.quota ? spread(slow, now_ns) : slow->plan.factor > 1 ? hold(slow, now_ns) : INT64_MAX;
        if (now_ns >= trace_ns) {
                trace(slow, now_ns);
                if (!slow->plan.quota && slow->plan.factor > 1)
                        measure(slow, now_ns);
                trace_ns = now_ns + SLOW_TRACE_MS * (int64_t)NS_PER_MS;
        }
        return MIN(next_ns, trace_ns);
}

double slow_reached(const struct slow *slow)
{
        return reached_factor(slow->reached);
}

size_t slow_alive(struct slow *slow, char name[RECORD_TASK_MAX])
{
        size_t n = 0;
        char path[64];

        look_for_processes(slow);
        for (size_t i = 0; i < slow->n; i++) {
                char state = schedstat_state(slow->list[i].pid);

                if (state == 'Z' || state == 'X')
                        continue;
                snprintf(path, sizeof(path), "/proc/%d/comm", slow->list[i].pid);
                if (n++ == 0 && util_read_at(AT_FDCWD, path, name, RECORD_TASK_MAX) > 0)
                        name[strcspn(name, "\n")] = '\0';
        }
        return n;
}

void slow_finish(struct slow *slow, int64_t now_ns)
{
        while (slow->n)
                free(slow->list[--slow->n].threads);
        trace(slow, MAX(now_ns, slow->traced_ns)); /* processes that outlived the app were traced after its end */
}
