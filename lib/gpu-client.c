/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The clients of a GPU that one process holds, by their descriptors. */

#include "gpu-private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util.h"

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

int holder_look(const struct gpu_source *self, struct holder *holder)
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
uint64_t holder_read(const struct gpu_source *self, struct holder *holder)
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

uint64_t holder_last(const struct holder *holder)
{
        uint64_t sum = holder->closed_ns;

        for (size_t i = 0; i < holder->n; i++)
                sum += busy_of(&holder->held[i]);
        return sum;
}
