/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * All processes without BPF: /proc/PID/stat and io, with their descriptors kept
 * from poll to poll, since opening costs more than reading. A kept descriptor
 * never reads another process: once its own is reaped it says ESRCH, and the
 * pid is opened anew.
 *
 * The kernel has a clock of each process's CPU time, which is read without any
 * text: whose clock stands has not run, and has read and written nothing, has no
 * other name and is no other process either, so that only the others are opened.
 * Processes that end are told by taskstats, for root. Kept descriptors are two a
 * process that runs; beyond the limit of descriptors they are opened each time.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process-kept-private.h"
#include "util/units.h"
#include "util/util.h"

#define POLLS_PER_LOOK 10    /* so often all are read, where the clocks do not tell everything */
#define DESCRIPTORS_LEFT 128 /* for everything else that this program opens */

static void kept_close(struct source *source)
{
        struct kept_collector *collector = (struct kept_collector *)source;

        for (size_t i = 0; i < collector->n; i++)
                kept_forget(collector, &collector->list[i]);
        free(collector->list);
        free(collector->free_places);
        free(collector->endings);
        free(collector->ended);
        taskstats_free(collector->ends);
        process_table_free(collector->table);
        closep(&collector->proc_fd);
        free(collector);
}

static int leave_place(struct kept_collector *collector, struct kept *kept)
{
        kept->told = false;
        return process_table_gone(collector->table, kept->place);
}

/* Another process than the one with this pid before. */
static int begin_anew(struct kept_collector *collector, struct kept *kept, const struct proc_stat *stat)
{
        int err = kept->told ? leave_place(collector, kept) : 0;

        kept_close_file(collector, &kept->io_fd);
        kept->uid_known = kept->io_known = false;
        kept->read_bytes = kept->write_bytes = 0;
        kept->start_time = stat->start_time;
        kept->told_ns = stat->start_time * collector->tick_ns < collector->opened_ns ?
                stat->reaped_ticks * collector->tick_ns : 0;
        return err;
}

static int tell(struct kept_collector *collector, struct kept *kept, const struct proc_stat *stat)
{
        struct process_seen seen = {
                .pid = kept->pid,
                .parent = collector->ends ? 0 : stat->parent,
                .ppid = stat->parent,
                .uid = kept->uid,
                .start_ns = stat->start_time * collector->tick_ns,
                .kernel_thread = stat->kernel_thread,
                .comm = stat->comm,
                .have = PROCESS_CPU | (kept->io_known ? PROCESS_DISK : 0),
                .amount = {
                        [AMOUNT_CPU_NS] = collector->clocks ? kept->cpu_ns : stat->cpu_ticks * collector->tick_ns,
                        [AMOUNT_READ_BYTES] = kept->read_bytes,
                        [AMOUNT_WRITE_BYTES] = kept->write_bytes,
                },
        };

        kept->told = true;
        return process_table_alive(collector->table, kept->place, &seen);
}

static int read_process(struct kept_collector *collector, struct kept *kept)
{
        struct proc_stat stat;
        int err;

        if (kept_has_ended(collector, kept->pid)) {
                (void)kept_read_clock(kept->pid, &kept->cpu_ns); /* which stands from now on */
                kept->seen = collector->clocks;
                return kept->told ? leave_place(collector, kept) : 0;
        }
        err = kept_read_stat(collector, kept, &stat);
        if (err)
                return 0; /* ended between the listing and now */
        if (kept->start_time != stat.start_time)
                err = begin_anew(collector, kept, &stat);
        if (err)
                return err;
        kept->reaped_ns = stat.reaped_ticks * collector->tick_ns;
        if (!kept->uid_known)
                kept->uid = kept_read_uid(collector, kept->pid);
        kept->uid_known = true;
        kept_read_io(collector, kept);
        kept->seen = true;
        return tell(collector, kept, &stat);
}

/* Only of those that ran since the last poll there is anything to read. */
static int look_at_process(struct kept_collector *collector, struct kept *kept)
{
        uint64_t cpu_ns = NEVER;

        if (collector->clocks) {
                if (kept_read_clock(kept->pid, &cpu_ns) < 0)
                        return 0; /* ended between the listing and now */
                kept->seen = cpu_ns == kept->cpu_ns && !collector->all;
                if (kept->seen)
                        return 0;
        }
        kept->cpu_ns = cpu_ns;
        if (kept_is_anothers(collector, kept->pid)) {
                kept->seen = true;
                return kept->told ? leave_place(collector, kept) : 0;
        }
        return read_process(collector, kept);
}

/* /proc lists pids in ascending order, as our list is: both are walked side by side. */
static int kept_of(struct kept_collector *collector, pid_t pid, size_t *cursor, struct kept **ret)
{
        struct kept *list = collector->list;
        int err;

        while (*cursor < collector->n && list[*cursor].pid < pid)
                (*cursor)++;
        if (*cursor == collector->n || list[*cursor].pid != pid) {
                err = util_grow(&collector->list, &collector->capacity, collector->n + 1, sizeof(*list));
                if (err)
                        return err;
                list = collector->list;
                memmove(list + *cursor + 1, list + *cursor, (collector->n - *cursor) * sizeof(*list));
                list[*cursor] = (struct kept){ .pid = pid, .stat_fd = -1, .io_fd = -1, .cpu_ns = NEVER };
                list[*cursor].place = collector->n_free_places > 0 ?
                        collector->free_places[--collector->n_free_places] : collector->n_places++;
                collector->n++;
        }
        *ret = &list[(*cursor)++];
        return 0;
}

struct linux_dirent64 {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
};

static int read_listed(struct kept_collector *collector, const char *entries, size_t length, size_t *cursor)
{
        const struct linux_dirent64 *entry;

        for (size_t at = 0; at < length; at += entry->length) {
                struct kept *kept;
                long pid;
                int err;

                entry = (const void *)(entries + at);
                if (entry->name[0] < '1' || entry->name[0] > '9')
                        continue;
                pid = strtol(entry->name, NULL, 10);
                err = kept_of(collector, (pid_t)pid, cursor, &kept);
                if (!err)
                        err = look_at_process(collector, kept);
                if (err)
                        return err;
        }
        return 0;
}

static int drop(struct kept_collector *collector, struct kept *kept)
{
        int err = util_grow(&collector->free_places, &collector->free_places_capacity,
                            collector->n_free_places + 1, sizeof(*collector->free_places));

        if (!err)
                collector->free_places[collector->n_free_places++] = kept->place;
        kept_forget(collector, kept);
        return kept->told ? leave_place(collector, kept) : 0;
}

static int drop_gone(struct kept_collector *collector)
{
        size_t n = 0;
        int err = 0;

        for (size_t i = 0; i < collector->n; i++) {
                if (collector->list[i].seen) {
                        collector->list[n++] = collector->list[i];
                } else {
                        int failed = drop(collector, &collector->list[i]);

                        err = err ? err : failed;
                }
        }
        collector->n = n;
        return err;
}

static int kept_read(struct source *source, struct sample *sample)
{
        struct kept_collector *collector = (struct kept_collector *)source;
        _Alignas(8) char entries[16384];
        size_t cursor = 0;
        ssize_t length;
        int err;

        for (size_t i = 0; i < collector->n; i++)
                collector->list[i].seen = false;
        /* Whose parent ends gets another one in its sleep. */
        collector->all = !collector->ends && collector->polls++ % POLLS_PER_LOOK == 0;
        process_table_begin(collector->table);
        err = kept_read_ended(collector);
        if (err)
                return err;
        if (lseek(collector->proc_fd, 0, SEEK_SET) < 0)
                return -errno;
        while ((length = syscall(SYS_getdents64, collector->proc_fd, entries, sizeof(entries))) > 0) {
                err = read_listed(collector, entries, (size_t)length, &cursor);
                if (err)
                        return err;
        }
        if (length < 0)
                return -errno;
        err = drop_gone(collector);
        kept_settle(collector);
        kept_forget_untold(collector);
        return err ? err : process_table_finish(collector->table, false, sample, NULL);
}

/* As many as we may have, so that few processes must be opened anew each time. */
static size_t raise_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 0;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
                (void)getrlimit(RLIMIT_NOFILE, &limit);
        return limit.rlim_cur > DESCRIPTORS_LEFT ? (size_t)limit.rlim_cur - DESCRIPTORS_LEFT : 0;
}

/* Not where /proc is of another pid namespace, nor where the kernel has no such clocks. */
static bool has_clocks(const struct kept_collector *collector)
{
        char self[16] = "";
        uint64_t unused;

        return readlinkat(collector->proc_fd, "self", self, sizeof(self) - 1) > 0 &&
               atoi(self) == (int)getpid() &&
               kept_read_clock(getppid() > 0 ? getppid() : getpid(), &unused) == 0;
}

static const struct source_ops kept_ops = {
        .name = "kept",
        .read = kept_read,
        .close = kept_close,
};

int process_kept_open(const struct collector_options *options, struct source **ret)
{
        struct kept_collector *collector = calloc(1, sizeof(*collector));
        int err;

        if (!collector)
                return -ENOMEM;
        collector->source.ops = &kept_ops;
        collector->source.counts = COUNTS_CPU | COUNTS_DISK;
        collector->tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
        collector->source.own_only = geteuid() != 0;
        collector->opened_ns = util_boottime_ns();
        collector->most_descriptors = raise_limit();
        collector->proc_fd = openat(options->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = collector->proc_fd < 0 ? -errno : 0;
        collector->clocks = !err && has_clocks(collector);
        if (!err && !(options->leave_out & COUNTS_EXITS) &&
            taskstats_open(options->root_fd, &collector->ends) == 0)
                collector->source.counts |= COUNTS_EXITS;
        if (!err)
                err = process_table_new(options->root_fd, options->apps, collector->ends != NULL, 0,
                                        &collector->table);
        if (err) {
                kept_close(&collector->source);
                return err;
        }
        *ret = &collector->source;
        return 0;
}
