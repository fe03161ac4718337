/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The clients of a GPU that one process holds, by their descriptors. */

#include "gpu-private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define MOST_DESCRIPTORS 4096 /* looked at, in ascending order: a GPU is opened early */

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

static uint64_t total_of(const struct held *held)
{
        return held->last.busy_ns + held->cycles_ns;
}

/* The part of its time that belongs to its holder. */
static uint64_t busy_of(const struct held *held)
{
        return held->shared ? 0 : total_of(held) - held->base_ns;
}

/* Several engines may be busy at the same time. Cycles that went backward are a gap. */
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

/* The holder to which a client's time belongs, other than @holder; NULL: none. */
static struct held *find_owner(struct gpu_source *self, const struct holder *holder,
                               const struct gpu_client *client, struct holder **ret)
{
        for (size_t i = 0; i < self->n; i++) {
                struct held *held = &self->list[i] == holder ? NULL : find_client(&self->list[i], client);

                if (held && !held->shared) {
                        *ret = &self->list[i];
                        return held;
                }
        }
        return NULL;
}

/*
 * A client whose descriptor was passed on or inherited is in several processes, and counts once: for the process
 * that had it first, except that a user's process takes precedence over root's (logind keeps a copy of the card
 * that it opens for the compositor).
 */
static void choose_owner(struct gpu_source *self, const struct holder *holder, struct held *held)
{
        struct holder *other;
        struct held *owner = find_owner(self, holder, &held->last, &other);

        held->shared = owner && !(other->uid == 0 && holder->uid != 0);
        if (held->shared)
                return;
        if (owner) {
                other->closed_ns += busy_of(owner);
                owner->shared = true;
        }
        held->base_ns = total_of(held);
}

/* Two descriptors of one client count once. */
static int hold(struct gpu_source *self, struct holder *holder, int fd, const struct gpu_client *client)
{
        struct held *held = find_client(holder, client);
        struct holder *other;

        if (held && held->fd < 0) {
                held->fd = fd;
                take_over(held, client, self->now_ns);
        } else if (held) {
                held->last.busy_ns = MAX(held->last.busy_ns, client->busy_ns);
        }
        if (held)
                return 0;
        if (util_grow(&holder->held, &holder->capacity, holder->n + 1, sizeof(*held)) < 0)
                return -ENOMEM;
        held = &holder->held[holder->n++];
        *held = (struct held){ .fd = fd, .last = *client, .seen_ns = self->now_ns };
        if (find_owner(self, holder, client, &other))
                choose_owner(self, holder, held);
        return 0;
}

int gpu_holder_look(struct gpu_source *self, struct holder *holder)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[32];
        int err = 0;
        struct dirent *entry;

        snprintf(path, sizeof(path), "%d/fd", (int)holder->pid);
        dir = util_opendir_at(self->proc_fd, path);
        if (!dir)
                return 0; /* gone, or another user's, and we are not root */
        for (size_t n = 0; !err && n < MOST_DESCRIPTORS && (entry = readdir(dir)); n++) {
                struct gpu_client client;
                uint64_t number;

                if (util_parse_u64(entry->d_name, &number) == 0 && number <= INT32_MAX &&
                    is_gpu(dirfd(dir), entry->d_name) && read_client(self, holder->pid, (int)number, &client))
                        err = hold(self, holder, (int)number, &client);
        }
        return err;
}

static bool read_held(const struct gpu_source *self, const struct holder *holder, struct held *held)
{
        struct gpu_client now;

        if (!read_client(self, holder->pid, held->fd, &now) || now.client != held->last.client ||
            strcmp(now.device, held->last.device) != 0)
                return false;
        take_over(held, &now, self->now_ns);
        return true;
}

static void drop_closed(struct holder *holder)
{
        size_t kept = 0;

        for (size_t i = 0; i < holder->n; i++) {
                if (holder->held[i].fd >= 0)
                        holder->held[kept++] = holder->held[i];
                else
                        holder->closed_ns += busy_of(&holder->held[i]);
        }
        holder->n = kept;
}

/* A closed descriptor, or one of another client by now, may have a copy; without one the last total stays. */
int gpu_holder_read(struct gpu_source *self, struct holder *holder)
{
        bool lost = false;
        int err = 0;

        for (size_t i = 0; i < holder->n; i++) {
                if (read_held(self, holder, &holder->held[i]))
                        continue;
                holder->held[i].fd = -1;
                lost = true;
        }
        if (lost)
                err = gpu_holder_look(self, holder);
        drop_closed(holder);
        for (size_t i = 0; i < holder->n; i++)
                if (holder->held[i].shared)
                        choose_owner(self, holder, &holder->held[i]);
        return err;
}

uint64_t gpu_holder_busy_ns(const struct holder *holder)
{
        uint64_t sum = holder->closed_ns;

        for (size_t i = 0; i < holder->n; i++)
                sum += busy_of(&holder->held[i]);
        return sum;
}
