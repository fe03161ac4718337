/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Processes that ended, as taskstats tells of their threads. */

#include <errno.h>
#include <stdlib.h>

#include "process-kept-private.h"
#include "util/util.h"

/* Threads that ended of one process, until its last one does. */
struct ending {
        pid_t pid;
        uint64_t began_ns;
        uint64_t cpu_ns, read_bytes, write_bytes;
        uint64_t spare_ns; /* in which it may have run without being told */
        uint64_t n_threads;
        unsigned missing; /* polls in which no such process was there */
};

/* The threads of its process that have ended so far; the newest stand last. */
static int ending_of(struct kept_collector *collector, const struct ended_thread *thread, size_t *ret)
{
        size_t i = collector->n_endings;
        uint64_t now_ns;

        while (i > 0 && collector->endings[i - 1].pid != thread->tgid)
                i--;
        if (i == 0) {
                int err = util_grow(&collector->endings, &collector->endings_capacity,
                                    collector->n_endings + 1, sizeof(*collector->endings));

                if (err)
                        return err;
                now_ns = util_boottime_ns();
                collector->endings[collector->n_endings++] = (struct ending){
                        .pid = thread->tgid,
                        .began_ns = now_ns - MIN(now_ns, thread->lived_ns),
                };
                i = collector->n_endings;
        }
        *ret = i - 1;
        return 0;
}

/* When a process began that may be younger than the last poll. */
static int find_start(const struct kept_collector *collector, pid_t pid, uint64_t *ret)
{
        uint64_t unused[2];
        char path[32], text[1024];
        struct proc_stat stat;
        ssize_t length;

        if (process_table_recall(collector->table, pid, ret, &unused[0], &unused[1]) == 0)
                return 0;
        snprintf(path, sizeof(path), "%d/stat", (int)pid);
        length = util_read_at(collector->proc_fd, path, text, sizeof(text));
        if (length <= 0 || !proc_parse_stat(text, (size_t)length, &stat))
                return -ESRCH;
        *ret = stat.start_time * collector->tick_ns;
        return 0;
}

static int keep_ended(struct kept_collector *collector, const struct ended_thread *thread,
                      const struct ending *ending, uint64_t start_ns)
{
        const struct kept *kept = kept_find(collector, thread->tgid);
        uint64_t shown_ns = kept && kept->told && kept->cpu_ns != NEVER ? kept->cpu_ns : 0;
        int err = util_grow(&collector->ended, &collector->ended_capacity, collector->n_ended + 1,
                            sizeof(*collector->ended));

        if (err)
                return err;
        collector->ended[collector->n_ended] = (struct kept_ended){
                .pid = thread->tgid,
                .parent = thread->parent,
                .at = collector->n_ended,
                .start_ns = start_ns,
                .told_ns = MAX(ending->cpu_ns, shown_ns) + (kept && kept->told ? kept->told_ns : 0),
                .spare_ns = ending->spare_ns,
                .n_threads = ending->n_threads,
        };
        collector->n_ended++;
        return 0;
}

/* Its last thread ended: the sum, unless /proc has shown more (of a process that is older than we are). */
static int end_process(struct kept_collector *collector, const struct ended_thread *thread,
                       const struct ending *ending)
{
        uint64_t start_ns = ending->began_ns, read_bytes = 0, write_bytes = 0, parent_ns;
        struct process_seen seen = { .pid = thread->tgid, .ppid = thread->parent, .uid = thread->uid,
                                     .comm = thread->comm, .have = PROCESS_CPU | PROCESS_DISK };
        int err;

        (void)process_table_recall(collector->table, thread->tgid, &start_ns, &read_bytes, &write_bytes);
        err = keep_ended(collector, thread, ending, start_ns);
        if (err)
                return err;
        seen.start_ns = start_ns;
        seen.amount[AMOUNT_CPU_NS] = ending->cpu_ns;
        seen.amount[AMOUNT_READ_BYTES] = ending->read_bytes + read_bytes;
        seen.amount[AMOUNT_WRITE_BYTES] = ending->write_bytes + write_bytes;
        err = process_table_ended(collector->table, &seen, util_boottime_ns());
        if (err || thread->parent <= 0 ||
            (ending->read_bytes == 0 && ending->write_bytes == 0 && read_bytes == 0 && write_bytes == 0) ||
            find_start(collector, thread->parent, &parent_ns) < 0)
                return err;
        return process_table_reaped(collector->table, thread->parent, parent_ns,
                                    seen.amount[AMOUNT_READ_BYTES], seen.amount[AMOUNT_WRITE_BYTES]);
}

static int take_ended(void *data, const struct ended_thread *thread)
{
        struct kept_collector *collector = data;
        struct ending ending;
        size_t at;
        int err;

        if (collector->source.own_only && thread->uid != geteuid()) /* whom no poll shows, either */
                return 0;
        err = ending_of(collector, thread, &at);
        if (err)
                return err;
        collector->endings[at].cpu_ns += thread->cpu_ns;
        collector->endings[at].spare_ns += kept_spare_ns(thread);
        collector->endings[at].n_threads++;
        collector->endings[at].read_bytes += thread->read_bytes;
        collector->endings[at].write_bytes += thread->write_bytes;
        if (!thread->last)
                return 0;
        ending = collector->endings[at];
        collector->endings[at] = collector->endings[--collector->n_endings];
        return end_process(collector, thread, &ending);
}

int kept_read_ended(struct kept_collector *collector)
{
        int err;

        collector->n_ended = 0;
        collector->lost = false;
        if (!collector->ends)
                return 0;
        err = taskstats_read(collector->ends, take_ended, collector);
        collector->lost = err == -ENOBUFS;
        if (collector->lost)
                collector->source.lost++; /* netlink does not say how many */
        else if (err)
                return err;
        kept_sort_ended(collector);
        return 0;
}

/*
 * Where messages were lost, the last one of a process may have been among them: what its threads had must not
 * become the next one's of its pid. In the first poll without it the message may still be on its way.
 */
void kept_forget_untold(struct kept_collector *collector)
{
        size_t kept = 0;

        if (collector->source.lost == 0)
                return;
        for (size_t i = 0; i < collector->n_endings; i++) {
                struct ending *ending = &collector->endings[i];

                if (kept_find(collector, ending->pid))
                        ending->missing = 0;
                else
                        ending->missing++;
                if (ending->missing < 2)
                        collector->endings[kept++] = *ending;
        }
        collector->n_endings = kept;
}
