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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector.h"
#include "process-table.h"
#include "process.h"
#include "taskstats.h"
#include "units.h"
#include "util.h"

#define POLLS_PER_LOOK 10    /* so often all are read, where the clocks do not tell everything */
#define NEVER UINT64_MAX     /* of a clock: not read yet */
#define DESCRIPTORS_LEFT 128 /* for everything else that this program opens */

struct kept {
        pid_t pid;
        int stat_fd, io_fd;  /* -1: not kept */
        uid_t uid;
        bool uid_known;
        uint64_t cpu_ns;     /* by its clock, or NEVER */
        uint64_t start_time; /* of whom the table was told */
        size_t place;        /* in the table */
        bool told;           /* the table knows that it lives */
        bool io_known;
        uint64_t read_bytes, write_bytes;
        bool seen;
};

/* Threads that ended of one process, until its last one does. */
struct ending {
        pid_t pid;
        uint64_t began_ns;
        uint64_t cpu_ns, read_bytes, write_bytes;
};

struct kept_collector {
        struct source source;
        struct process_table *table;
        int proc_fd;
        bool own_only;
        bool all;    /* in this poll, whether they ran or not */
        bool clocks; /* pids of /proc are those of our system calls */
        uint64_t tick_ns;
        uint32_t polls;
        size_t n_places;
        size_t *free_places; /* below n_places */
        size_t n_free_places, free_places_capacity;
        size_t descriptors, most_descriptors;
        struct kept *list;   /* ascending by pid */
        size_t n, capacity;
        struct taskstats_listener *ends; /* NULL: nobody tells */
        struct ending *endings;
        size_t n_endings, endings_capacity;
        pid_t *ended;        /* told in this poll, ascending; /proc may still show them, until they are reaped */
        size_t n_ended, ended_capacity;
};

static void forget(struct kept_collector *collector, struct kept *kept)
{
        int *const fds[] = { &kept->stat_fd, &kept->io_fd };

        for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
                if (*fds[i] < 0)
                        continue;
                close(*fds[i]);
                *fds[i] = -1;
                collector->descriptors--;
        }
}

static void kept_close(struct source *source)
{
        struct kept_collector *collector = (struct kept_collector *)source;

        for (size_t i = 0; i < collector->n; i++)
                forget(collector, &collector->list[i]);
        free(collector->list);
        free(collector->free_places);
        free(collector->endings);
        free(collector->ended);
        taskstats_free(collector->ends);
        process_table_free(collector->table);
        closep(&collector->proc_fd);
        free(collector);
}

static int open_file(struct kept_collector *collector, pid_t pid, const char *name)
{
        char path[32];
        int fd;

        snprintf(path, sizeof(path), "%d/%s", pid, name);
        fd = openat(collector->proc_fd, path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* The real user: a program that runs with another's rights is still the one's who started it. Asked once. */
static uid_t read_uid(const struct kept_collector *collector, pid_t pid)
{
        char path[32], text[4096];
        const char *line;
        unsigned uid;

        snprintf(path, sizeof(path), "%d/status", (int)pid);
        if (util_read_at(collector->proc_fd, path, text, sizeof(text)) < 0)
                return (uid_t)-1;
        line = strstr(text, "\nUid:");
        return line && sscanf(line, "\nUid: %u", &uid) == 1 ? uid : (uid_t)-1;
}

/* What another does is none of ours, unless we are root: its disk bytes may not be read, and half would look like all. */
static bool is_anothers(const struct kept_collector *collector, pid_t pid)
{
        struct stat owner;
        char path[16];

        if (!collector->own_only)
                return false;
        snprintf(path, sizeof(path), "%d", (int)pid);
        return fstatat(collector->proc_fd, path, &owner, 0) < 0 || owner.st_uid != geteuid();
}

/* Through the kept descriptor if there is one; else opens, and keeps if there is room. */
static ssize_t read_file(struct kept_collector *collector, pid_t pid, const char *name, int *kept_fd, char *buf,
                         size_t size)
{
        ssize_t length;
        int fd = *kept_fd;

        if (fd < 0) {
                fd = open_file(collector, pid, name);
                if (fd < 0)
                        return fd;
        }
        length = pread(fd, buf, size - 1, 0);
        if (length < 0)
                length = -errno;
        else
                buf[length] = '\0';
        if (fd == *kept_fd)
                return length;
        if (length >= 0 && collector->descriptors < collector->most_descriptors) {
                *kept_fd = fd;
                collector->descriptors++;
        } else {
                close(fd);
        }
        return length;
}

static int read_stat(struct kept_collector *collector, struct kept *kept, struct process_stat *ret)
{
        char text[1024];
        bool was_kept = kept->stat_fd >= 0;
        ssize_t length = read_file(collector, kept->pid, "stat", &kept->stat_fd, text, sizeof(text));

        if (length == -ESRCH && was_kept) { /* reaped; its pid may be another's by now */
                forget(collector, kept);
                length = read_file(collector, kept->pid, "stat", &kept->stat_fd, text, sizeof(text));
        }
        if (length < 0)
                return (int)length;
        return process_parse_stat(text, (size_t)length, ret) ? 0 : -EBADMSG;
}

static void read_io(struct kept_collector *collector, struct kept *kept)
{
        char text[1024];
        struct process_io io;

        if (read_file(collector, kept->pid, "io", &kept->io_fd, text, sizeof(text)) < 0 ||
            !process_parse_io(text, &io))
                return; /* another user's: known only to root and to its owner */
        kept->io_known = true;
        kept->read_bytes = io.read_bytes;
        kept->write_bytes = io.write_bytes;
}

/* CPU time of all of its threads, in ns. The number of a process's clock is part of the kernel's ABI. */
static int read_clock(pid_t pid, uint64_t *ret)
{
        struct timespec time;
        clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2); /* CPUCLOCK_SCHED; clock_getcpuclockid(), for less */

        if (clock_gettime(clock, &time) < 0)
                return -errno;
        *ret = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
        return 0;
}

static int leave_place(struct kept_collector *collector, struct kept *kept)
{
        kept->told = false;
        return process_table_gone(collector->table, kept->place);
}

/* Another process than the one with this pid before. */
static int begin_anew(struct kept_collector *collector, struct kept *kept, const struct process_stat *stat)
{
        int err = kept->told ? leave_place(collector, kept) : 0;

        if (kept->io_fd >= 0) {
                close(kept->io_fd);
                kept->io_fd = -1;
                collector->descriptors--;
        }
        kept->uid_known = kept->io_known = false;
        kept->read_bytes = kept->write_bytes = 0;
        kept->start_time = stat->start_time;
        return err;
}

static int tell(struct kept_collector *collector, struct kept *kept, const struct process_stat *stat)
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

static int compare_pids(const void *a, const void *b)
{
        pid_t one = *(const pid_t *)a, other = *(const pid_t *)b;

        return one < other ? -1 : one > other;
}

static bool has_ended(const struct kept_collector *collector, pid_t pid)
{
        return collector->n_ended > 0 &&
               bsearch(&pid, collector->ended, collector->n_ended, sizeof(pid), compare_pids);
}

static int read_process(struct kept_collector *collector, struct kept *kept)
{
        struct process_stat stat;
        int err;

        if (has_ended(collector, kept->pid)) {
                (void)read_clock(kept->pid, &kept->cpu_ns); /* which stands from now on */
                kept->seen = collector->clocks;
                return kept->told ? leave_place(collector, kept) : 0;
        }
        err = read_stat(collector, kept, &stat);
        if (err)
                return 0; /* ended between the listing and now */
        if (kept->start_time != stat.start_time)
                err = begin_anew(collector, kept, &stat);
        if (err)
                return err;
        if (!kept->uid_known)
                kept->uid = read_uid(collector, kept->pid);
        kept->uid_known = true;
        read_io(collector, kept);
        kept->seen = true;
        return tell(collector, kept, &stat);
}

/* Only of those that ran since the last poll there is anything to read. */
static int look_at_process(struct kept_collector *collector, struct kept *kept)
{
        uint64_t cpu_ns = NEVER;

        if (collector->clocks) {
                if (read_clock(kept->pid, &cpu_ns) < 0)
                        return 0; /* ended between the listing and now */
                kept->seen = cpu_ns == kept->cpu_ns && !collector->all;
                if (kept->seen)
                        return 0;
        }
        kept->cpu_ns = cpu_ns;
        if (is_anothers(collector, kept->pid)) {
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
        int err = util_grow(&collector->free_places, &collector->free_places_capacity, collector->n_free_places + 1,
                            sizeof(*collector->free_places));

        if (!err)
                collector->free_places[collector->n_free_places++] = kept->place;
        forget(collector, kept);
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

/* The threads of its process that have ended so far; the newest stand last. */
static int ending_of(struct kept_collector *collector, const struct ended_thread *thread, size_t *ret)
{
        size_t i = collector->n_endings;
        uint64_t now_ns;

        while (i > 0 && collector->endings[i - 1].pid != thread->tgid)
                i--;
        if (i == 0) {
                int err = util_grow(&collector->endings, &collector->endings_capacity, collector->n_endings + 1,
                                    sizeof(*collector->endings));

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
        struct process_stat stat;
        ssize_t length;

        if (process_table_recall(collector->table, pid, ret, &unused[0], &unused[1]) == 0)
                return 0;
        snprintf(path, sizeof(path), "%d/stat", (int)pid);
        length = util_read_at(collector->proc_fd, path, text, sizeof(text));
        if (length <= 0 || !process_parse_stat(text, (size_t)length, &stat))
                return -ESRCH;
        *ret = stat.start_time * collector->tick_ns;
        return 0;
}

/* Its last thread ended: the sum, unless /proc has shown more (of a process that is older than we are). */
static int end_process(struct kept_collector *collector, const struct ended_thread *thread, const struct ending *ending)
{
        uint64_t start_ns = ending->began_ns, read_bytes = 0, write_bytes = 0, parent_ns;
        struct process_seen seen = { .pid = thread->tgid, .ppid = thread->parent, .uid = thread->uid,
                                     .comm = thread->comm, .have = PROCESS_CPU | PROCESS_DISK };
        int err = util_grow(&collector->ended, &collector->ended_capacity, collector->n_ended + 1,
                            sizeof(*collector->ended));

        if (err)
                return err;
        collector->ended[collector->n_ended++] = thread->tgid;
        (void)process_table_recall(collector->table, thread->tgid, &start_ns, &read_bytes, &write_bytes);
        seen.start_ns = start_ns;
        seen.amount[AMOUNT_CPU_NS] = ending->cpu_ns;
        seen.amount[AMOUNT_READ_BYTES] = ending->read_bytes + read_bytes;
        seen.amount[AMOUNT_WRITE_BYTES] = ending->write_bytes + write_bytes;
        err = process_table_ended(collector->table, &seen, util_boottime_ns());
        if (err || thread->parent <= 0 || (ending->read_bytes == 0 && ending->write_bytes == 0 && read_bytes == 0 &&
                                           write_bytes == 0) ||
            find_start(collector, thread->parent, &parent_ns) < 0)
                return err;
        return process_table_reaped(collector->table, thread->parent, parent_ns, seen.amount[AMOUNT_READ_BYTES],
                                    seen.amount[AMOUNT_WRITE_BYTES]);
}

static int take_ended(void *data, const struct ended_thread *thread)
{
        struct kept_collector *collector = data;
        struct ending ending;
        size_t at;
        int err = ending_of(collector, thread, &at);

        if (err)
                return err;
        collector->endings[at].cpu_ns += thread->cpu_ns;
        collector->endings[at].read_bytes += thread->read_bytes;
        collector->endings[at].write_bytes += thread->write_bytes;
        if (!thread->last)
                return 0;
        ending = collector->endings[at];
        collector->endings[at] = collector->endings[--collector->n_endings];
        return end_process(collector, thread, &ending);
}

static int read_ended(struct kept_collector *collector)
{
        int err;

        collector->n_ended = 0;
        if (!collector->ends)
                return 0;
        err = taskstats_read(collector->ends, take_ended, collector);
        if (err == -ENOBUFS)
                collector->source.lost++; /* netlink does not say how many */
        else if (err)
                return err;
        if (collector->n_ended > 1)
                qsort(collector->ended, collector->n_ended, sizeof(*collector->ended), compare_pids);
        return 0;
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
        err = read_ended(collector);
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

        return readlinkat(collector->proc_fd, "self", self, sizeof(self) - 1) > 0 && atoi(self) == (int)getpid() &&
               read_clock(getppid() > 0 ? getppid() : getpid(), &unused) == 0;
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
        collector->own_only = geteuid() != 0;
        collector->most_descriptors = raise_limit();
        collector->proc_fd = openat(options->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = collector->proc_fd < 0 ? -errno : 0;
        collector->clocks = !err && has_clocks(collector);
        if (!err && !(options->leave_out & COUNTS_EXITS) && taskstats_open(options->root_fd, &collector->ends) == 0)
                collector->source.counts |= COUNTS_EXITS;
        if (!err)
                err = process_table_new(options->root_fd, options->apps, collector->ends != NULL, 0, &collector->table);
        if (err) {
                kept_close(&collector->source);
                return err;
        }
        *ret = &collector->source;
        return 0;
}
