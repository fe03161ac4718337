/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The clients of a GPU that one process holds, by their descriptors. */

#include "gpu-private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define MOST_DESCRIPTORS 4096 /* only the lowest descriptors are checked: a GPU is opened early */

static bool driver_counts(const struct gpu_source *self, const char *driver)
{
        for (size_t i = 0; i < self->n_counting; i++)
                if (strcmp(self->counting[i], driver) == 0)
                        return true;
        return false;
}

static void learn_driver(struct gpu_source *self, const char *driver)
{
        if (!driver_counts(self, driver) && self->n_counting < ARRAY_SIZE(self->counting))
                snprintf(self->counting[self->n_counting++], sizeof(self->counting[0]), "%s", driver);
}

static bool read_client(const struct gpu_source *self, pid_t pid, int fd, struct gpu_client *ret)
{
        char path[48], text[4096];

        snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)pid, fd);
        *ret = (struct gpu_client){ 0 };
        if (util_read_at(self->proc_fd, path, text, sizeof(text)) <= 0)
                return false;
        gpu_parse_driver(text, ret->driver, sizeof(ret->driver));
        return gpu_parse_fdinfo(text, ret);
}

/* Remembers the first driver without times, unless it has shown times since. */
static void miss_client(const struct gpu_source *self, struct holder *holder, const char *driver, const char *node)
{
        if (!gpu_node_draws(self, node) || (holder->uncounted[0] && !driver_counts(self, holder->uncounted)))
                return;
        snprintf(holder->uncounted, sizeof(holder->uncounted), "%.31s", *driver ? driver : node);
}

bool gpu_holder_counts(struct gpu_source *self, const struct holder *holder)
{
        if (holder->uncounted[0] && !driver_counts(self, holder->uncounted))
                return false;
        for (size_t i = 0; i < holder->n; i++)
                if (gpu_node_is_off(self, holder->held[i].node))
                        return false;
        return true;
}

static struct held *find_client(struct holder *holder, const struct gpu_client *client)
{
        for (size_t i = 0; i < holder->n; i++)
                if (gpu_same_client(&holder->held[i].last, client))
                        return &holder->held[i];
        return NULL;
}

static uint64_t total_of(const struct held *held)
{
        return held->last.busy_ns + held->cycles_ns;
}

/* The part of a client's time that belongs to its holder. */
static uint64_t busy_of(const struct held *held)
{
        return held->shared ? 0 : total_of(held) - held->base_ns;
}

/* Takes the new readings. Several engines may be busy at the same time. Cycles that went backward are a gap. */
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
 * A user's process comes before root's (logind keeps a copy of the card that it opens for the compositor), then the
 * earlier process.
 */
static bool comes_before(const struct holder *one, const struct holder *other)
{
        if ((one->uid == 0) != (other->uid == 0))
                return other->uid == 0;
        return one->start_time < other->start_time;
}

/*
 * A client whose descriptor was passed on or inherited is open in several processes, and counts once: for the process
 * that comes before the others.
 */
static void choose_owner(struct gpu_source *self, const struct holder *holder, struct held *held)
{
        struct holder *other;
        struct held *owner = find_owner(self, holder, &held->last, &other);

        held->shared = owner && !comes_before(holder, other);
        if (held->shared)
                return;
        if (owner) {
                other->closed_ns += busy_of(owner);
                owner->shared = true;
        }
        held->base_ns = total_of(held);
}

/* Two descriptors of one client count once. */
static int hold(struct gpu_source *self, struct holder *holder, int fd, const struct gpu_client *client,
                const char *node)
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
        snprintf(held->node, sizeof(held->node), "%s", node);
        learn_driver(self, client->driver);
        if (find_owner(self, holder, client, &other))
                choose_owner(self, holder, held);
        return 0;
}

int gpu_holder_look(struct gpu_source *self, struct holder *holder)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[32], node[16];
        int err = 0;
        struct dirent *entry;

        snprintf(path, sizeof(path), "%d/fd", (int)holder->pid);
        dir = util_opendir_at(self->proc_fd, path);
        holder->uncounted[0] = '\0';
        if (!dir)
                return 0; /* gone, or another user's, and we are not root */
        for (size_t n = 0; !err && n < MOST_DESCRIPTORS && (entry = readdir(dir)); n++) {
                struct gpu_client client;
                uint64_t number;

                if (util_parse_u64(entry->d_name, &number) < 0 || number > INT32_MAX ||
                    !gpu_node_is_gpu(dirfd(dir), entry->d_name, node, sizeof(node)))
                        continue;
                if (read_client(self, holder->pid, (int)number, &client))
                        err = hold(self, holder, (int)number, &client, node);
                else
                        miss_client(self, holder, client.driver, node);
        }
        return err;
}

static bool read_held(const struct gpu_source *self, const struct holder *holder, struct held *held)
{
        struct gpu_client now;

        if (!read_client(self, holder->pid, held->fd, &now) || !gpu_same_client(&now, &held->last))
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

/* If a descriptor was closed, or belongs to another client now, a copy is searched for; else the last total stays. */
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
