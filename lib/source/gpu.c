/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * GPU time of each process, by its descriptors of a render node. They are searched for when a process appears, and
 * again at every tenth poll for processes that ran; in between only the known descriptors are read. The total of a
 * closed descriptor stays with its process. Engines that count cycles and no time (xe) are busy for their share of
 * the cycles between two reads.
 *
 * Read after the processes: it fills in the processes of the sample.
 */

#include "gpu-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/util.h"

#define POLLS_PER_LOOK 10 /* a program that opens the GPU late is found after at most this number of polls */

/* Both lists ascend by pid, so a new holder is inserted where the search ends. */
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
                self->gone_ns += gpu_holder_busy_ns(&self->list[i]);
                free(self->list[i].held);
        }
        self->n = kept;
}

/*
 * Processes that are not listed did not run and gave the GPU no new work; time of work under way is counted when
 * they run again.
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
                        *total_ns += gpu_holder_busy_ns(holder);
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
        holder->uid = process->uid;
        if (is_new || (self->polls % POLLS_PER_LOOK == 0 && holder->cpu_ns != process->cpu_ns)) {
                err = gpu_holder_look(self, holder);
                holder->cpu_ns = process->cpu_ns;
        }
        if (!err)
                err = gpu_holder_read(self, holder);
        process->gpu_busy_ns = gpu_holder_busy_ns(holder);
        if (gpu_holder_counts(self, holder)) {
                process->have |= USAGE_GPU;
                self->counted = self->counted || holder->n > 0;
        } else {
                self->missed = true;
        }
        *total_ns += process->gpu_busy_ns;
        return err;
}

static int gpu_read(struct source *source, struct sample *sample)
{
        struct gpu_source *self = (struct gpu_source *)source;
        uint64_t total_ns = 0;
        size_t at = 0;
        /* if there is no list of processes, none of them counts as gone */
        int err = sample->have & SAMPLE_PROCESSES ? 0 : -ENODATA;

        self->now_ns = sample->monotonic_ns;
        self->n_nodes = 0;
        self->counted = self->missed = false;
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
        if (self->counted || !self->missed) /* otherwise the machine's only GPU does not count */
                sample->have |= USAGE_GPU;
        return 0;
}

static void gpu_close(struct source *source)
{
        struct gpu_source *self = (struct gpu_source *)source;

        for (size_t i = 0; i < self->n; i++)
                free(self->list[i].held);
        free(self->list);
        closep(&self->proc_fd);
        closep(&self->drm_fd);
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
        self->drm_fd = openat(root_fd, "sys/class/drm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        *ret = &self->source;
        return 0;
}
