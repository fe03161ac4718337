/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * GPU time of each process, from the descriptors by which it holds a render
 * node. Which processes do is looked up when they appear, and now and then for
 * those that ran; in between only those descriptors are read. What a closed
 * descriptor had counted stays its process's. Engines that count cycles and no time (xe) are busy for their
 * share of the cycles that went by between two looks.
 *
 * Read after the processes: it fills in what the sample lists.
 */

#include "gpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "util.h"

#define POLLS_PER_LOOK 10 /* a program that opens the GPU late is found after so many polls at the latest */

struct held {                /* a client that a process has open */
        int fd;
        struct gpu_client last;
        uint64_t seen_ns;    /* monotonic time of that */
        uint64_t cycles_ns;  /* what its cycles came to */
};

struct holder {
        pid_t pid;
        uint64_t start_time;
        uint64_t cpu_ns;     /* at the last look for descriptors */
        uint64_t closed_ns;  /* of clients that are gone */
        struct held *held;
        size_t n, capacity;
        bool seen;
};

struct gpu_source {
        struct source source;
        int proc_fd;
        uint32_t polls;
        uint64_t now_ns;     /* of the sample that is being made */
        struct holder *list; /* every process, ascending by pid */
        size_t n, capacity;
        uint64_t gone_ns;    /* of processes that are gone: the machine's total only grows */
};

static bool is_gpu(int dir_fd, const char *name)
{
        char target[64];
        ssize_t length = readlinkat(dir_fd, name, target, sizeof(target) - 1);

        if (length <= 0)
                return false;
        target[length] = '\0';
        return strncmp(target, "/dev/dri/render", 15) == 0 || strncmp(target, "/dev/dri/card", 13) == 0;
}

static bool read_client(const struct gpu_source *self, pid_t pid, int fd, struct gpu_client *ret)
{
        char path[48], text[4096];

        snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)pid, fd);
        return util_read_at(self->proc_fd, path, text, sizeof(text)) > 0 && gpu_parse_fdinfo(text, ret);
}

static struct held *find_client(struct holder *holder, const struct gpu_client *client)
{
        for (size_t i = 0; i < holder->n; i++)
                if (holder->held[i].last.client == client->client &&
                    strcmp(holder->held[i].last.device, client->device) == 0)
                        return &holder->held[i];
        return NULL;
}

/* Two descriptors of one client count once. */
static int hold(struct holder *holder, int fd, const struct gpu_client *client, uint64_t now_ns)
{
        struct held *held = find_client(holder, client);

        if (held) {
                held->last.busy_ns = MAX(held->last.busy_ns, client->busy_ns);
                return 0;
        }
        if (util_grow(&holder->held, &holder->capacity, holder->n + 1, sizeof(*held)) < 0)
                return -ENOMEM;
        holder->held[holder->n++] = (struct held){ .fd = fd, .last = *client, .seen_ns = now_ns };
        return 0;
}

static int look_for_clients(const struct gpu_source *self, struct holder *holder)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[32];
        int err = 0;
        struct dirent *entry;

        snprintf(path, sizeof(path), "%d/fd", (int)holder->pid);
        dir = util_opendir_at(self->proc_fd, path);
        if (!dir)
                return 0; /* gone, or another's and we are not root */
        while (!err && (entry = readdir(dir))) {
                struct gpu_client client;
                uint64_t number;

                if (util_parse_u64(entry->d_name, &number) == 0 && number <= INT32_MAX &&
                    is_gpu(dirfd(dir), entry->d_name) && read_client(self, holder->pid, (int)number, &client))
                        err = hold(holder, (int)number, &client, self->now_ns);
        }
        return err;
}

static uint64_t busy_of(const struct held *held)
{
        return held->last.busy_ns + held->cycles_ns;
}

/* Several engines may be busy at the same time, as with times; cycles that went backward are a gap. */
static void take_over(struct held *held, const struct gpu_client *now, uint64_t now_ns)
{
        uint64_t total = now->total_cycles - MIN(held->last.total_cycles, now->total_cycles);
        uint64_t cycles = now->cycles - MIN(held->last.cycles, now->cycles);

        if (total > 0 && held->last.total_cycles > 0 && now_ns > held->seen_ns)
                held->cycles_ns += (uint64_t)((double)(now_ns - held->seen_ns) *
                                              MIN((double)cycles / (double)total, 16.0));
        held->last.busy_ns = MAX(held->last.busy_ns, now->busy_ns);
        held->last.cycles = now->cycles;
        held->last.total_cycles = now->total_cycles;
        held->seen_ns = now_ns;
}

/*
 * Reads the descriptors that it holds; one that is closed,
 * or another client's by now, leaves its last total.
 */
static uint64_t read_holder(const struct gpu_source *self, struct holder *holder)
{
        uint64_t sum = 0;
        size_t kept = 0;

        for (size_t i = 0; i < holder->n; i++) {
                struct held *held = &holder->held[i];
                struct gpu_client now;

                if (read_client(self, holder->pid, held->fd, &now) && now.client == held->last.client &&
                    strcmp(now.device, held->last.device) == 0) {
                        take_over(held, &now, self->now_ns);
                        sum += busy_of(held);
                        holder->held[kept++] = *held;
                } else {
                        holder->closed_ns += busy_of(held);
                }
        }
        holder->n = kept;
        return sum + holder->closed_ns;
}

static uint64_t last_of(const struct holder *holder)
{
        uint64_t sum = holder->closed_ns;

        for (size_t i = 0; i < holder->n; i++)
                sum += busy_of(&holder->held[i]);
        return sum;
}

/* Both lists ascend by pid, so the place of a new one is where the search ends. */
static int holder_of(struct gpu_source *self, const struct process *process, size_t *at, struct holder **ret)
{
        struct holder *holder;

        while (*at < self->n && self->list[*at].pid < process->pid)
                (*at)++;
        if (*at < self->n && self->list[*at].pid == process->pid &&
            self->list[*at].start_time == process->start_time) {
                *ret = &self->list[*at];
                return 0;
        }
        if (util_grow(&self->list, &self->capacity, self->n + 1, sizeof(*holder)) < 0)
                return -ENOMEM;
        holder = &self->list[*at];
        memmove(holder + 1, holder, (self->n - *at) * sizeof(*holder));
        self->n++;
        *holder = (struct holder){ .pid = process->pid, .start_time = process->start_time };
        *ret = holder;
        return 1;
}

static void forget_gone(struct gpu_source *self)
{
        size_t kept = 0;

        for (size_t i = 0; i < self->n; i++) {
                if (self->list[i].seen) {
                        self->list[kept++] = self->list[i];
                        continue;
                }
                self->gone_ns += last_of(&self->list[i]);
                free(self->list[i].held);
        }
        self->n = kept;
}

/*
 * Who is not listed did not run, and so gave the GPU nothing new to do;
 * what it still does is told when it runs.
 */
static void keep_unlisted(struct gpu_source *self, const struct sample *sample, uint64_t *total_ns)
{
        for (size_t i = 0; i < self->n; i++) {
                struct holder *holder = &self->list[i];
                bool gone = holder->seen;

                for (size_t j = 0; !gone && j < sample->n_gone; j++)
                        gone = sample->gone[j].pid == holder->pid &&
                               sample->gone[j].start_time == holder->start_time;
                if (!gone) {
                        holder->seen = true;
                        *total_ns += last_of(holder);
                }
        }
}

static int read_process(struct gpu_source *self, struct process *process, size_t *at, uint64_t *total_ns)
{
        struct holder *holder;
        int is_new, err = 0;

        if (process->ended_ns > 0)
                return 0;
        is_new = holder_of(self, process, at, &holder);
        if (is_new < 0)
                return is_new;
        holder->seen = true;
        if (is_new || (self->polls % POLLS_PER_LOOK == 0 && holder->cpu_ns != process->cpu_ns)) {
                err = look_for_clients(self, holder);
                holder->cpu_ns = process->cpu_ns;
        }
        process->gpu_busy_ns = holder->n > 0 ? read_holder(self, holder) : holder->closed_ns;
        process->have |= PROCESS_GPU;
        *total_ns += process->gpu_busy_ns;
        return err;
}

static int gpu_read(struct source *source, struct sample *sample)
{
        struct gpu_source *self = (struct gpu_source *)source;
        uint64_t total_ns = 0;
        size_t at = 0;
        int err = 0;

        self->now_ns = sample->monotonic_ns;
        for (size_t i = 0; i < self->n; i++)
                self->list[i].seen = false;
        for (size_t i = 0; !err && i < sample->n_processes; i++)
                err = read_process(self, &sample->processes[i], &at, &total_ns);
        if (err)
                return err;
        if (sample->partial)
                keep_unlisted(self, sample, &total_ns);
        forget_gone(self);
        self->polls++;
        sample->gpu_busy_ns = total_ns + self->gone_ns;
        sample->have |= SAMPLE_GPU;
        return 0;
}

static void gpu_close(struct source *source)
{
        struct gpu_source *self = (struct gpu_source *)source;

        for (size_t i = 0; i < self->n; i++)
                free(self->list[i].held);
        free(self->list);
        closep(&self->proc_fd);
        free(self);
}

static const struct source_ops gpu_ops = { "gpu", gpu_read, gpu_close };

int gpu_open(int root_fd, struct source **ret)
{
        struct gpu_source *self;
        int proc_fd;

        if (!util_has_entry(root_fd, "sys/class/drm", "renderD"))
                return -ENODEV;
        proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (proc_fd < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self) {
                close(proc_fd);
                return -ENOMEM;
        }
        self->source.ops = &gpu_ops;
        self->proc_fd = proc_fd;
        *ret = &self->source;
        return 0;
}
