/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * All processes without BPF, from /proc/PID/stat and io.
 *
 * `kept`: the kernel has a CPU clock for each process, which is read without any text. A process whose clock
 * has not moved has read and written nothing, has the same name and is the same process, so only the others
 * are opened. Root also gets taskstats messages of processes that end.
 *
 * `proc`: reads all processes at each poll and needs neither. It also reads a machine tree.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "procfs-private.h"
#include "util/units.h"
#include "util/util.h"

#define POLLS_PER_LOOK 10 /* number of polls after which all are read, if ends are not reported */
#define TICK_NS (NS_PER_S / 100) /* USER_HZ */

static void procfs_close(struct source *source)
{
        struct procfs *procfs = (struct procfs *)source;

        free(procfs->list);
        free(procfs->pids);
        free(procfs->free_places);
        free(procfs->endings);
        free(procfs->ended);
        taskstats_free(procfs->ends);
        process_table_free(procfs->table);
        closep(&procfs->proc_fd);
        free(procfs);
}

uint64_t procfs_start_ns(const struct proc_stat *stat)
{
        return MIN(stat->start_time, UINT64_MAX / TICK_NS) * TICK_NS;
}

int procfs_read_stat(const struct procfs *procfs, pid_t pid, struct proc_stat *ret)
{
        char path[32], text[1024];
        ssize_t length;

        snprintf(path, sizeof(path), "%d/stat", (int)pid);
        length = util_read_at(procfs->proc_fd, path, text, sizeof(text));
        if (length < 0)
                return (int)length;
        return proc_parse_stat(text, (size_t)length, ret) ? 0 : -EBADMSG;
}

/* Returns false for another user's process, which only root and its owner may read. */
static bool read_io(const struct procfs *procfs, pid_t pid, struct proc_io *ret)
{
        char path[32], text[1024];

        snprintf(path, sizeof(path), "%d/io", (int)pid);
        return util_read_at(procfs->proc_fd, path, text, sizeof(text)) > 0 && proc_parse_io(text, ret);
}

/* CPU time of all its threads. The number of a process's clock is part of the kernel's ABI. */
static int read_clock(pid_t pid, uint64_t *ret)
{
        struct timespec time;
        /* CPUCLOCK_SCHED; as clock_getcpuclockid() would return, but cheaper */
        clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);

        if (clock_gettime(clock, &time) < 0)
                return -errno;
        *ret = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
        return 0;
}

/*
 * Other users' processes are left out if only our own can be read completely, since their disk bytes are not
 * readable.
 */
static bool is_anothers(const struct procfs *procfs, pid_t pid)
{
        struct stat owner;
        char path[16];

        if (!procfs->source.own_only)
                return false;
        snprintf(path, sizeof(path), "%d", (int)pid);
        return fstatat(procfs->proc_fd, path, &owner, 0) < 0 || owner.st_uid != geteuid();
}

int procfs_leave_place(struct procfs *procfs, struct procfs_process *process)
{
        if (!process->told)
                return 0;
        process->told = false;
        return process_table_gone(procfs->table, process->place);
}

/* Begins a process whose pid is new, or was another process's before. */
static int begin_anew(struct procfs *procfs, struct procfs_process *process, const struct proc_stat *stat)
{
        process->start_time = stat->start_time;
        process->told_ns = procfs_start_ns(stat) < procfs->opened_ns ?
                stat->reaped_ticks * TICK_NS : 0;
        return procfs_leave_place(procfs, process);
}

/*
 * Read again after an exec, which may have changed the user. Kernel threads change their names all the time.
 */
static void read_user(const struct procfs *procfs, const struct proc_stat *stat, struct procfs_process *process)
{
        if (process->told && memcmp(process->comm, stat->comm, sizeof(process->comm)) == 0)
                return;
        memcpy(process->comm, stat->comm, sizeof(process->comm));
        process->uid = 0;
        if (!stat->kernel_thread && proc_read_uid(procfs->proc_fd, process->pid, &process->uid) < 0)
                process->uid = (uid_t)-1;
}

static int tell(struct procfs *procfs, struct procfs_process *process, const struct proc_stat *stat)
{
        struct proc_io io = { 0 };
        bool io_known = read_io(procfs, process->pid, &io);
        struct process_seen seen = {
                .pid = process->pid,
                .parent = procfs->ends ? 0 : stat->parent,
                .ppid = stat->parent,
                .uid = process->uid,
                .start_ns = procfs_start_ns(stat),
                .kernel_thread = stat->kernel_thread,
                .comm = stat->comm,
                .have = USAGE_CPU | (io_known ? USAGE_DISK : 0),
                .total = {
                        .cpu_ns = procfs->clocks ? process->cpu_ns : stat->cpu_ticks * TICK_NS,
                        .read_bytes = io.read_bytes,
                        .write_bytes = io.write_bytes,
                },
        };

        process->told = true;
        return process_table_alive(procfs->table, process->place, &seen);
}

static int read_process(struct procfs *procfs, struct procfs_process *process)
{
        struct proc_stat stat;
        int err;

        if (procfs_has_ended(procfs, process->pid)) {
                (void)read_clock(process->pid, &process->cpu_ns); /* the clock does not move any more */
                process->seen = procfs->clocks;
                return procfs_leave_place(procfs, process);
        }
        err = procfs_read_stat(procfs, process->pid, &stat);
        /*
         * it ended since the listing; other errors are reported, as without free descriptors all processes
         * would seem to have ended
         */
        if (err)
                return err == -EMFILE || err == -ENFILE ? err : 0;
        if (process->start_time != stat.start_time)
                err = begin_anew(procfs, process, &stat);
        if (err)
                return err;
        read_user(procfs, &stat, process);
        process->reaped_ns = stat.reaped_ticks * TICK_NS;
        process->seen = true;
        return tell(procfs, process, &stat);
}

/* Only a process that ran since the last poll has anything new to read. */
static int look_at_process(struct procfs *procfs, struct procfs_process *process)
{
        uint64_t cpu_ns = NEVER;

        if (procfs->clocks) {
                if (read_clock(process->pid, &cpu_ns) < 0)
                        return 0; /* ended between the listing and now */
                process->seen = cpu_ns == process->cpu_ns && !procfs->all;
                if (process->seen)
                        return 0;
        }
        process->cpu_ns = cpu_ns;
        if (is_anothers(procfs, process->pid)) {
                process->seen = true;
                return procfs_leave_place(procfs, process);
        }
        return read_process(procfs, process);
}

static int compare_pids(const void *a, const void *b)
{
        const pid_t *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

static int list_pids(struct procfs *procfs)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(procfs->proc_fd, ".");
        bool ascending = true; /* the kernel lists them so; a copied tree may not */
        struct dirent *entry;
        uint64_t pid;

        if (!dir)
                return -errno;
        procfs->n_pids = 0;
        while ((entry = readdir(dir))) {
                if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || util_parse_u64(entry->d_name, &pid) < 0 ||
                    pid > INT32_MAX)
                        continue;
                if (util_grow(&procfs->pids, &procfs->pids_capacity, procfs->n_pids + 1, sizeof(*procfs->pids)) < 0)
                        return -ENOMEM;
                ascending = ascending && (procfs->n_pids == 0 || procfs->pids[procfs->n_pids - 1] < (pid_t)pid);
                procfs->pids[procfs->n_pids++] = (pid_t)pid;
        }
        if (!ascending)
                qsort(procfs->pids, procfs->n_pids, sizeof(*procfs->pids), compare_pids);
        return 0;
}

/* Entry of @pid; pids and the list both ascend. */
static int process_of(struct procfs *procfs, pid_t pid, size_t *cursor, struct procfs_process **ret)
{
        struct procfs_process *list = procfs->list;

        while (*cursor < procfs->n && list[*cursor].pid < pid)
                (*cursor)++;
        if (*cursor == procfs->n || list[*cursor].pid != pid) {
                if (util_grow(&procfs->list, &procfs->capacity, procfs->n + 1, sizeof(*list)) < 0)
                        return -ENOMEM;
                list = procfs->list;
                memmove(list + *cursor + 1, list + *cursor, (procfs->n - *cursor) * sizeof(*list));
                list[*cursor] = (struct procfs_process){ .pid = pid, .cpu_ns = NEVER };
                list[*cursor].place = procfs->n_free_places > 0 ?
                        procfs->free_places[--procfs->n_free_places] : procfs->n_places++;
                procfs->n++;
        }
        *ret = &list[(*cursor)++];
        return 0;
}

static int read_listed(struct procfs *procfs)
{
        size_t cursor = 0;
        int err = list_pids(procfs);

        for (size_t i = 0; !err && i < procfs->n_pids; i++) {
                struct procfs_process *process;

                err = process_of(procfs, procfs->pids[i], &cursor, &process);
                if (!err)
                        err = look_at_process(procfs, process);
        }
        return err;
}

static int drop(struct procfs *procfs, struct procfs_process *process)
{
        int err = util_grow(&procfs->free_places, &procfs->free_places_capacity, procfs->n_free_places + 1,
                            sizeof(*procfs->free_places));

        if (!err)
                procfs->free_places[procfs->n_free_places++] = process->place;
        return procfs_leave_place(procfs, process);
}

static int drop_gone(struct procfs *procfs)
{
        size_t n = 0;
        int err = 0;

        for (size_t i = 0; i < procfs->n; i++) {
                if (procfs->list[i].seen) {
                        procfs->list[n++] = procfs->list[i];
                } else {
                        int failed = drop(procfs, &procfs->list[i]);

                        err = err ? err : failed;
                }
        }
        procfs->n = n;
        return err;
}

static int procfs_read(struct source *source, struct sample *sample)
{
        struct procfs *procfs = (struct procfs *)source;
        int err;

        for (size_t i = 0; i < procfs->n; i++)
                procfs->list[i].seen = false;
        /* The parent of a sleeping process may end and be replaced by another. */
        procfs->all = !procfs->ends && procfs->polls++ % POLLS_PER_LOOK == 0;
        process_table_begin(procfs->table);
        err = procfs_read_ended(procfs);
        if (!err)
                err = read_listed(procfs);
        if (err)
                return err;
        err = drop_gone(procfs);
        procfs_settle(procfs);
        procfs_forget_untold(procfs);
        if (!procfs->clocks) /* read all: a process may move bytes in less than a tick */
                sample->taken = false;
        return err ? err : process_table_finish(procfs->table, false, sample, NULL);
}

/* False if /proc shows another pid namespace, or if the kernel has no such clocks. */
static bool has_clocks(const struct procfs *procfs)
{
        char self[16] = "";
        uint64_t unused;

        return util_is_procfs(procfs->proc_fd) &&
               readlinkat(procfs->proc_fd, "self", self, sizeof(self) - 1) > 0 && atoi(self) == (int)getpid() &&
               read_clock(getppid() > 0 ? getppid() : getpid(), &unused) == 0;
}

/* True for root or with CAP_SYS_PTRACE. For a machine tree it depends on whether its files can be read. */
static bool sees_all(const struct procfs *procfs)
{
        char text[1024];

        return !util_is_procfs(procfs->proc_fd) || util_read_at(procfs->proc_fd, "1/io", text, sizeof(text)) > 0;
}

static int open_any(const struct collector_options *options, const struct source_ops *ops, bool plain,
                    struct source **ret)
{
        struct procfs *procfs = calloc(1, sizeof(*procfs));
        int err;

        if (!procfs)
                return -ENOMEM;
        procfs->source.ops = ops;
        procfs->source.counts = COUNTS_CPU | COUNTS_DISK;
        procfs->opened_ns = procfs->read_ns[1] = util_boottime_ns();
        procfs->proc_fd = openat(options->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (procfs->proc_fd < 0) {
                procfs_close(&procfs->source);
                return -ENODEV;
        }
        procfs->source.own_only = !options->everyone && !sees_all(procfs);
        procfs->clocks = !plain && has_clocks(procfs);
        if (!plain && !(options->leave_out & COUNTS_EXITS) &&
            taskstats_open(options->root_fd, &procfs->ends) == 0)
                procfs->source.counts |= COUNTS_EXITS;
        err = process_table_new(options->root_fd, options->apps, procfs->ends != NULL, 0, &procfs->table);
        if (err) {
                procfs_close(&procfs->source);
                return err;
        }
        *ret = &procfs->source;
        return 0;
}

int process_kept_open(const struct collector_options *options, struct source **ret)
{
        static const struct source_ops ops = { "kept", procfs_read, procfs_close };

        return open_any(options, &ops, false, ret);
}

int process_plain_open(const struct collector_options *options, struct source **ret)
{
        static const struct source_ops ops = { "proc", procfs_read, procfs_close };

        return open_any(options, &ops, true, ret);
}
