/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * All processes from plain /proc: getdents, then stat and io of each (8.4 ms for
 * 580 processes). Used if no better collector is built in.
 * What does not change while a process lives (user, whether its io may be read)
 * is asked once and taken over from the poll before.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "app/app.h"
#include "collector.h"
#include "source/proc.h"
#include "util/units.h"
#include "util/util.h"

#define TICK_NS (NS_PER_S / 100)

struct known { /* of the poll before, ascending by pid */
        pid_t pid;
        uint64_t start_time;
        uid_t uid;
        bool io_denied;
        char comm[32];
};

struct process_source {
        struct source source;
        int proc_fd;
        struct apps *apps;
        pid_t *pids;
        size_t n_pids, pids_capacity;
        struct known *known, *next;
        size_t n_known, known_capacity, n_next, next_capacity;
};

struct entry { /* linux_dirent64, getdents(2) */
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
};

static int add_pid(struct process_source *self, const char *name)
{
        uint64_t pid;

        if (*name < '1' || *name > '9' || util_parse_u64(name, &pid) < 0 || pid > INT32_MAX)
                return 0;
        if (util_grow(&self->pids, &self->pids_capacity, self->n_pids + 1, sizeof(*self->pids)) < 0)
                return -ENOMEM;
        self->pids[self->n_pids++] = (pid_t)pid;
        return 0;
}

static int compare_pids(const void *a, const void *b)
{
        const pid_t *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

/* The kernel lists ascending, a copied tree does not. */
static void sort_pids(struct process_source *self)
{
        for (size_t i = 1; i < self->n_pids; i++) {
                if (self->pids[i - 1] > self->pids[i]) {
                        qsort(self->pids, self->n_pids, sizeof(*self->pids), compare_pids);
                        return;
                }
        }
}

static int list_pids(struct process_source *self)
{
        _Alignas(struct entry) char buf[32768];
        long n;

        self->n_pids = 0;
        if (lseek(self->proc_fd, 0, SEEK_SET) < 0)
                return -errno;
        while ((n = syscall(SYS_getdents64, self->proc_fd, buf, sizeof(buf))) > 0) {
                for (long at = 0; at < n;) {
                        const struct entry *entry = (const void *)(buf + at);
                        int err = add_pid(self, entry->name);

                        if (err)
                                return err;
                        at += entry->length;
                }
        }
        sort_pids(self);
        return n < 0 ? -errno : 0;
}

static uid_t read_uid(const struct process_source *self, pid_t pid, int stat_fd)
{
        struct stat owner;
        uid_t uid;

        if (proc_read_uid(self->proc_fd, pid, &uid) == 0)
                return uid;
        return fstat(stat_fd, &owner) == 0 ? owner.st_uid : (uid_t)-1;
}

/* What was known of it at the poll before; both lists ascend. */
static const struct known *recall(const struct process_source *self, size_t *at, pid_t pid,
                                  uint64_t start_time)
{
        while (*at < self->n_known && self->known[*at].pid < pid)
                (*at)++;
        if (*at < self->n_known && self->known[*at].pid == pid && self->known[*at].start_time == start_time)
                return &self->known[*at];
        return NULL;
}

static struct known *remember(struct process_source *self)
{
        if (util_grow(&self->next, &self->next_capacity, self->n_next + 1, sizeof(*self->next)) < 0)
                return NULL;
        return memset(&self->next[self->n_next++], 0, sizeof(*self->next));
}

/* Who it is: as before, or asked anew after it came or changed its name (exec). */
static void identify(struct process_source *self, pid_t pid, int stat_fd, const struct proc_stat *stat,
                     const struct known *old, struct known *known)
{
        if (old && memcmp(old->comm, stat->comm, sizeof(old->comm)) == 0) {
                *known = *old;
                return;
        }
        known->start_time = stat->start_time;
        memcpy(known->comm, stat->comm, sizeof(known->comm));
        known->uid = stat->kernel_thread ? 0 : read_uid(self, pid, stat_fd); /* workers change their names all the time */
}

static void read_io(struct process_source *self, const char *pid, struct known *known,
                    struct process *process)
{
        struct proc_io io;
        char path[32], text[512];
        ssize_t n;

        if (known->io_denied)
                return;
        snprintf(path, sizeof(path), "%s/io", pid);
        n = util_read_at(self->proc_fd, path, text, sizeof(text));
        if (n == -EACCES || n == -EPERM)
                known->io_denied = true;
        if (n <= 0 || !proc_parse_io(text, &io))
                return;
        process->read_bytes = io.read_bytes;
        process->write_bytes = io.write_bytes;
        process->have |= PROCESS_DISK;
}

static ssize_t read_all(int fd, char *text, size_t size)
{
        ssize_t n;

        do
                n = read(fd, text, size);
        while (n < 0 && errno == EINTR);
        return n;
}

static bool is_anothers(const struct process_source *self, const char *pid)
{
        struct stat owner;

        return self->source.own_only &&
               (fstatat(self->proc_fd, pid, &owner, 0) < 0 || owner.st_uid != geteuid());
}

/* One process, which may be gone by the time we look: then there is nothing to say about it. */
static int read_process(struct process_source *self, pid_t pid, size_t *at, struct sample *sample)
{
        char name[16], path[32], text[1024];
        _cleanup_close_ int fd = -1;
        struct proc_stat stat;
        struct process *process;
        struct known *known;
        ssize_t n;

        snprintf(name, sizeof(name), "%d", (int)pid);
        if (is_anothers(self, name))
                return 0;
        snprintf(path, sizeof(path), "%s/stat", name);
        fd = openat(self->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return errno == EMFILE || errno == ENFILE ? -errno : 0; /* or it seems that nobody is there */
        n = read_all(fd, text, sizeof(text));
        if (n <= 0 || !proc_parse_stat(text, (size_t)n, &stat))
                return 0;
        known = remember(self);
        process = sample_add_process(sample, false);
        if (!known || !process)
                return -ENOMEM;
        identify(self, pid, fd, &stat, recall(self, at, pid, stat.start_time), known);
        known->pid = pid;
        process->pid = pid;
        process->start_time = stat.start_time;
        process->parent = stat.parent;
        process->began_ns = MIN(stat.start_time, UINT64_MAX / TICK_NS) * TICK_NS;
        process->uid = known->uid;
        memcpy(process->comm, stat.comm, sizeof(process->comm));
        process->cpu_ns = stat.cpu_ticks * TICK_NS;
        process->have = PROCESS_CPU;
        read_io(self, name, known, process);
        if (!self->apps) {
                app_program_of(self->proc_fd, name, stat.comm, process->app, sizeof(process->app));
                return 0;
        }
        return apps_find(self->apps, &(struct app_process){ pid, stat.parent, stat.start_time, known->uid,
                                                            stat.comm },
                         process->app);
}

static int process_read(struct source *source, struct sample *sample)
{
        struct process_source *self = (struct process_source *)source;
        struct known *known = self->known;
        size_t capacity = self->known_capacity, at = 0;
        int err = list_pids(self);

        self->n_next = 0;
        for (size_t i = 0; !err && i < self->n_pids; i++)
                if (i == 0 || self->pids[i] != self->pids[i - 1])
                        err = read_process(self, self->pids[i], &at, sample);
        if (err)
                return err;
        if (self->apps)
                apps_sweep(self->apps);
        self->known = self->next;
        self->n_known = self->n_next;
        self->known_capacity = self->next_capacity;
        self->next = known;
        self->next_capacity = capacity;
        sample->have |= SAMPLE_PROCESSES;
        return 0;
}

static void process_close(struct source *source)
{
        struct process_source *self = (struct process_source *)source;

        closep(&self->proc_fd);
        free(self->pids);
        free(self->known);
        free(self->next);
        free(self);
}

static const struct source_ops process_ops = { "proc", process_read, process_close };

int process_plain_open(const struct collector_options *options, struct source **ret)
{
        int proc_fd = openat(options->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct process_source *self;

        if (proc_fd < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self) {
                close(proc_fd);
                return -ENOMEM;
        }
        self->source.ops = &process_ops;
        self->source.counts = COUNTS_CPU | COUNTS_DISK;
        self->proc_fd = proc_fd;
        self->source.own_only = geteuid() != 0 && util_is_procfs(proc_fd);
        self->apps = options->apps;
        *ret = &self->source;
        return 0;
}
