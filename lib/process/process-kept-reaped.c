/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CPU time that no message of an end has: what a thread ran since the last tick, which is all that most short
 * processes ever run. The kernel adds it up once the process is gone, into what its parent has of reaped
 * children (cutime and cstime, and of their children in turn). What that grew by beyond what was told goes to
 * the processes that ended, by the time that each was there and is not said to have run, at most a tick a thread.
 */

#include <stdlib.h>

#include "process-kept-private.h"
#include "util/units.h"
#include "util/util.h"

#define TICK_NS (10 * NS_PER_MS) /* the longest there is: CONFIG_HZ=100 */
#define NOBODY SIZE_MAX

uint64_t kept_spare_ns(const struct ended_thread *thread)
{
        uint64_t untold_ns = thread->lived_ns - MIN(thread->cpu_ns, thread->lived_ns);

        return MIN(untold_ns, TICK_NS) + NS_PER_US;
}

static int compare_ended(const void *a, const void *b)
{
        const struct kept_ended *one = a, *other = b;

        if (one->pid != other->pid)
                return one->pid < other->pid ? -1 : 1;
        return one->at < other->at ? -1 : one->at > other->at;
}

void kept_sort_ended(struct kept_collector *collector)
{
        if (collector->n_ended > 1)
                qsort(collector->ended, collector->n_ended, sizeof(*collector->ended), compare_ended);
}

/* The first that ended of this pid after @at in the order of ends; NULL: none. */
static const struct kept_ended *find_ended(const struct kept_collector *collector, pid_t pid, size_t at)
{
        const struct kept_ended wanted = { .pid = pid, .at = at };
        size_t first = util_lower_bound(&wanted, collector->ended, collector->n_ended, sizeof(wanted),
                                        compare_ended);

        return first < collector->n_ended && collector->ended[first].pid == pid ? &collector->ended[first] : NULL;
}

bool kept_has_ended(const struct kept_collector *collector, pid_t pid)
{
        return find_ended(collector, pid, 0);
}

static int compare_kept(const void *pid, const void *element)
{
        pid_t one = *(const pid_t *)pid, other = ((const struct kept *)element)->pid;

        return one < other ? -1 : one > other;
}

struct kept *kept_find(const struct kept_collector *collector, pid_t pid)
{
        return collector->n == 0 ? NULL : bsearch(&pid, collector->list, collector->n, sizeof(*collector->list),
                                                  compare_kept);
}

/* Who has its time now: its parent, or where that ended after it, who reaped that. NULL: nobody that we read. */
static struct kept *find_heir(const struct kept_collector *collector, const struct kept_ended *ended)
{
        const struct kept_ended *parent;

        while ((parent = find_ended(collector, ended->parent, ended->at + 1)))
                ended = parent;
        return kept_find(collector, ended->parent);
}

static uint64_t missing_ns(const struct kept *heir)
{
        uint64_t missing = heir->reaped_ns - MIN(heir->told_ns, heir->reaped_ns);

        return MIN(missing, heir->n_threads * TICK_NS);
}

static void collect(struct kept_collector *collector)
{
        for (size_t i = 0; i < collector->n; i++) {
                collector->list[i].spare_ns = 0;
                collector->list[i].n_threads = 0;
        }
        for (size_t i = 0; i < collector->n_ended; i++) {
                struct kept_ended *ended = &collector->ended[i];
                struct kept *heir = find_heir(collector, ended);

                ended->heir = heir ? (size_t)(heir - collector->list) : NOBODY;
                if (!heir)
                        continue;
                heir->told_ns += ended->told_ns;
                heir->spare_ns += ended->spare_ns;
                heir->n_threads += ended->n_threads;
        }
}

/* Where messages were lost nobody knows whose it is. */
void kept_settle(struct kept_collector *collector)
{
        if (collector->n_ended == 0 && !collector->lost)
                return;
        collect(collector);
        for (size_t i = 0; i < collector->n_ended && !collector->lost; i++) {
                const struct kept_ended *ended = &collector->ended[i];
                const struct kept *heir = ended->heir == NOBODY ? NULL : &collector->list[ended->heir];
                double share = heir && heir->spare_ns > 0 ? (double)ended->spare_ns / (double)heir->spare_ns : 0;

                if (share > 0)
                        process_table_ended_more(collector->table, ended->pid, ended->start_ns,
                                                 (uint64_t)(share * (double)missing_ns(heir)));
        }
        for (size_t i = 0; i < collector->n; i++) {
                struct kept *heir = &collector->list[i];

                heir->told_ns = collector->lost ? heir->reaped_ns : heir->told_ns + missing_ns(heir);
        }
}
