/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Attributes CPU time that no message of an end includes: the runtime of a thread since its last tick, which
 * is all that most short processes ever run.
 *
 * The kernel adds it, once the process is gone, to its parent's total of reaped children (cutime and cstime,
 * which include their children in turn). The increase of that total beyond the messages' times is shared
 * among the ended processes, in proportion to the time that each existed and did not run according to its
 * messages, at most a tick per thread.
 */

#include <stdlib.h>

#include "procfs-private.h"
#include "util/units.h"
#include "util/util.h"

#define TICK_NS (10 * NS_PER_MS) /* the longest tick: CONFIG_HZ=100 */
#define NOBODY SIZE_MAX

uint64_t procfs_spare_ns(const struct ended_thread *thread)
{
        uint64_t untold_ns = thread->lived_ns - MIN(thread->cpu_ns, thread->lived_ns);

        return MIN(untold_ns, TICK_NS) + NS_PER_US;
}

static int compare_ended(const void *a, const void *b)
{
        const struct procfs_ended *one = a, *other = b;

        if (one->pid != other->pid)
                return one->pid < other->pid ? -1 : 1;
        return one->at < other->at ? -1 : one->at > other->at;
}

void procfs_sort_ended(struct procfs *procfs)
{
        if (procfs->n_ended > 1)
                qsort(procfs->ended, procfs->n_ended, sizeof(*procfs->ended), compare_ended);
}

/* The first process with this pid that ended after @at in the order of ends; NULL: none. */
static const struct procfs_ended *find_ended(const struct procfs *procfs, pid_t pid, size_t at)
{
        const struct procfs_ended wanted = { .pid = pid, .at = at };
        size_t first = util_lower_bound(&wanted, procfs->ended, procfs->n_ended, sizeof(wanted),
                                        compare_ended);

        return first < procfs->n_ended && procfs->ended[first].pid == pid ? &procfs->ended[first] : NULL;
}

bool procfs_has_ended(const struct procfs *procfs, pid_t pid)
{
        return find_ended(procfs, pid, 0);
}

static int compare_pid(const void *pid, const void *element)
{
        pid_t one = *(const pid_t *)pid, other = ((const struct procfs_process *)element)->pid;

        return one < other ? -1 : one > other;
}

struct procfs_process *procfs_find(const struct procfs *procfs, pid_t pid)
{
        return procfs->n == 0 ? NULL : bsearch(&pid, procfs->list, procfs->n, sizeof(*procfs->list), compare_pid);
}

/*
 * The process whose reaped_ns includes this one's time: its parent or, if that ended too, the parent's
 * parent, and so on. NULL: not in the list.
 */
static struct procfs_process *find_heir(const struct procfs *procfs, const struct procfs_ended *ended)
{
        const struct procfs_ended *parent;

        while ((parent = find_ended(procfs, ended->parent, ended->at + 1)))
                ended = parent;
        return procfs_find(procfs, ended->parent);
}

static uint64_t missing_ns(const struct procfs_process *heir)
{
        uint64_t missing = heir->reaped_ns - MIN(heir->told_ns, heir->reaped_ns);

        return MIN(missing, heir->n_threads * TICK_NS);
}

static void collect(struct procfs *procfs)
{
        for (size_t i = 0; i < procfs->n; i++) {
                procfs->list[i].spare_ns = 0;
                procfs->list[i].n_threads = 0;
        }
        for (size_t i = 0; i < procfs->n_ended; i++) {
                struct procfs_ended *ended = &procfs->ended[i];
                struct procfs_process *heir = find_heir(procfs, ended);

                ended->heir = heir ? (size_t)(heir - procfs->list) : NOBODY;
                if (!heir)
                        continue;
                heir->told_ns += ended->told_ns;
                heir->spare_ns += ended->spare_ns;
                heir->n_threads += ended->n_threads;
        }
}

/* If messages were lost, the time cannot be attributed. */
void procfs_settle(struct procfs *procfs)
{
        if (procfs->n_ended == 0 && !procfs->lost)
                return;
        collect(procfs);
        for (size_t i = 0; i < procfs->n_ended && !procfs->lost; i++) {
                const struct procfs_ended *ended = &procfs->ended[i];
                const struct procfs_process *heir = ended->heir == NOBODY ? NULL : &procfs->list[ended->heir];
                double share = heir && heir->spare_ns > 0 ? (double)ended->spare_ns / (double)heir->spare_ns : 0;

                if (share > 0)
                        process_table_ended_more(ended->known, (uint64_t)(share * (double)missing_ns(heir)));
        }
        for (size_t i = 0; i < procfs->n; i++) {
                struct procfs_process *heir = &procfs->list[i];

                heir->told_ns = procfs->lost ? heir->reaped_ns : heir->told_ns + missing_ns(heir);
        }
}
