/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reports ended processes, from the taskstats messages of their threads. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "procfs-private.h"
#include "util/units.h"
#include "util/util.h"

/* Ended threads of one process, until its last thread ends. */
struct procfs_ending {
        pid_t pid;
        uint64_t began_ns;
        uint64_t cpu_ns, read_bytes, write_bytes;
        uint64_t spare_ns; /* time in which it may have run without being counted */
        uint64_t n_threads;
        uint64_t lived_ns; /* lifetime of the longest-lived thread */
        unsigned missing; /* number of polls in which the process was not found */
};

/* Finds or adds the entry of a thread's process; the newest are last. */
static int ending_of(struct procfs *procfs, const struct ended_thread *thread, size_t *ret)
{
        size_t i = procfs->n_endings;
        uint64_t now_ns;

        while (i > 0 && procfs->endings[i - 1].pid != thread->tgid)
                i--;
        if (i == 0) {
                int err = util_grow(&procfs->endings, &procfs->endings_capacity,
                                    procfs->n_endings + 1, sizeof(*procfs->endings));

                if (err)
                        return err;
                now_ns = util_boottime_ns();
                procfs->endings[procfs->n_endings++] = (struct procfs_ending){
                        .pid = thread->tgid,
                        .began_ns = now_ns - MIN(now_ns, thread->lived_ns),
                };
                i = procfs->n_endings;
        }
        *ret = i - 1;
        return 0;
}

/* Start of a process; @otherwise_ns if /proc no longer shows it. */
static uint64_t find_start(const struct procfs *procfs, pid_t pid, uint64_t otherwise_ns)
{
        const struct procfs_process *process = procfs_find(procfs, pid);
        struct proc_stat stat;

        if (process && process->told)
                stat.start_time = process->start_time;
        else if (procfs_read_stat(procfs, pid, &stat) < 0)
                return otherwise_ns;
        return procfs_start_ns(&stat);
}

/* @process: its entry in the list, or NULL. */
static int keep_ended(struct procfs *procfs, const struct ended_thread *thread,
                      const struct procfs_ending *ending, const struct procfs_process *process,
                      struct procfs_ended **ret)
{
        uint64_t shown_ns = process && process->told && process->cpu_ns != NEVER ? process->cpu_ns : 0;
        int err = util_grow(&procfs->ended, &procfs->ended_capacity, procfs->n_ended + 1,
                            sizeof(*procfs->ended));

        if (err)
                return err;
        *ret = &procfs->ended[procfs->n_ended];
        **ret = (struct procfs_ended){
                .pid = thread->tgid,
                .parent = thread->parent,
                .at = procfs->n_ended,
                .told_ns = MAX(ending->cpu_ns, shown_ns) + (process && process->told ? process->told_ns : 0),
                .spare_ns = ending->spare_ns,
                .n_threads = ending->n_threads,
                .lived_ns = ending->lived_ns,
                .ended_s = thread->ended_s,
        };
        procfs->n_ended++;
        return 0;
}

/*
 * The last thread ended: reports the sum. The table keeps /proc's total if it is larger (a process older than
 * the service).
 */
static int end_process(struct procfs *procfs, const struct ended_thread *thread,
                       const struct procfs_ending *ending)
{
        uint64_t read_bytes, write_bytes, parent_ns;
        struct process_seen seen = { .pid = thread->tgid, .ppid = thread->parent, .uid = thread->uid,
                                     .start_ns = find_start(procfs, thread->tgid, ending->began_ns),
                                     .comm = thread->comm, .have = USAGE_CPU | USAGE_DISK };
        struct procfs_process *process = procfs_find(procfs, thread->tgid);
        struct procfs_ended *ended;
        int err = keep_ended(procfs, thread, ending, process, &ended);

        if (err)
                return err;
        if (process && process->told)
                ended->began_ns = seen.start_ns;
        process_table_base(procfs->table, thread->tgid, seen.start_ns, &read_bytes, &write_bytes);
        seen.total.cpu_ns = ending->cpu_ns;
        seen.total.read_bytes = ending->read_bytes + read_bytes;
        seen.total.write_bytes = ending->write_bytes + write_bytes;
        err = process_table_ended(procfs->table, &seen, util_boottime_ns(), &ended->known);
        if (!err && process) /* the next process with this pid is another one */
                err = procfs_leave_place(procfs, process);
        if (err || thread->parent <= 0 ||
            (seen.total.read_bytes == 0 && seen.total.write_bytes == 0))
                return err;
        parent_ns = find_start(procfs, thread->parent, 0);
        return parent_ns == 0 ? 0 : process_table_reaped(procfs->table, thread->parent, parent_ns,
                                                         seen.total.read_bytes,
                                                         seen.total.write_bytes);
}

static int take_ended(void *data, const struct ended_thread *thread)
{
        struct procfs *procfs = data;
        struct procfs_ending ending;
        size_t at;
        int err;

        if (procfs->source.own_only && thread->uid != geteuid()) /* polls do not show it, either */
                return 0;
        err = ending_of(procfs, thread, &at);
        if (err)
                return err;
        procfs->endings[at].cpu_ns += thread->cpu_ns;
        procfs->endings[at].spare_ns += procfs_spare_ns(thread);
        procfs->endings[at].n_threads++;
        procfs->endings[at].lived_ns = MAX(procfs->endings[at].lived_ns, thread->lived_ns);
        procfs->endings[at].read_bytes += thread->read_bytes;
        procfs->endings[at].write_bytes += thread->write_bytes;
        if (!thread->last)
                return 0;
        ending = procfs->endings[at];
        procfs->endings[at] = procfs->endings[--procfs->n_endings];
        return end_process(procfs, thread, &ending);
}

static int compare_app_and_order(const void *a, const void *b)
{
        const struct procfs_ended *one = a, *other = b;
        int order = strcmp(process_table_app(one->known), process_table_app(other->known));

        return order ? order : one->at < other->at ? -1 : one->at > other->at;
}

/*
 * Boottime of the end: as early in its second as possible if it began after @free_ns, and not before the last
 * poll.
 */
static double place_end(const struct procfs *procfs, const struct procfs_ended *ended, double free_ns,
                        double second_ns)
{
        double end_ns = fmin(fmax(second_ns, free_ns + (double)ended->lived_ns), second_ns + (double)NS_PER_S);

        if (ended->began_ns > 0)
                end_ns = (double)ended->began_ns + (double)ended->lived_ns;
        return fmin(fmax(end_ns, (double)procfs->read_ns[0]), (double)procfs->read_ns[1]);
}

/*
 * Estimates when each process ended. The kernel reports the whole second, the order, and the exact lifetime.
 * The processes of an app are placed one after another if their seconds have room for that; else they
 * overlap.
 */
static void place_ends(struct procfs *procfs)
{
        double boottime_of_0_ns = (double)(int64_t)(procfs->read_ns[1] - util_clock_ns(CLOCK_REALTIME));
        double free_ns = 0;

        if (procfs->n_ended > 1)
                qsort(procfs->ended, procfs->n_ended, sizeof(*procfs->ended), compare_app_and_order);
        for (size_t i = 0; i < procfs->n_ended; i++) {
                const struct procfs_ended *ended = &procfs->ended[i];
                double second_ns = (double)MIN(ended->ended_s, UINT64_C(1) << 33) * 1e9 + boottime_of_0_ns, began_ns;

                if (i == 0 || strcmp(process_table_app(ended->known), process_table_app(ended[-1].known)) != 0)
                        free_ns = (double)procfs->read_ns[0];
                free_ns = place_end(procfs, ended, free_ns, second_ns);
                began_ns = ended->began_ns > 0 ? (double)ended->began_ns : free_ns - (double)ended->lived_ns;
                process_table_lived(ended->known, (uint64_t)fmax(began_ns, 0), (uint64_t)free_ns);
        }
}

int procfs_read_ended(struct procfs *procfs)
{
        int err;

        procfs->n_ended = 0;
        procfs->lost = false;
        if (!procfs->ends)
                return 0;
        procfs->read_ns[0] = procfs->read_ns[1];
        err = taskstats_read(procfs->ends, take_ended, procfs);
        procfs->read_ns[1] = util_boottime_ns();
        procfs->lost = err == -ENOBUFS;
        if (procfs->lost)
                procfs->source.lost++; /* at least one; netlink does not report how many */
        else if (err)
                return err;
        place_ends(procfs);
        procfs_sort_ended(procfs);
        return 0;
}

/*
 * If messages were lost, the last one of a process may be among them, and its threads' times must not go to
 * the next process with that pid. In the first poll without the process, the message may still be under way.
 */
void procfs_forget_untold(struct procfs *procfs)
{
        size_t n = 0;

        if (procfs->source.lost == 0)
                return;
        for (size_t i = 0; i < procfs->n_endings; i++) {
                struct procfs_ending *ending = &procfs->endings[i];

                if (procfs_find(procfs, ending->pid))
                        ending->missing = 0;
                else
                        ending->missing++;
                if (ending->missing < 2)
                        procfs->endings[n++] = *ending;
        }
        procfs->n_endings = n;
}
