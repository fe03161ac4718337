/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "gpu-clients.h"
#include "util/units.h"
#include "util/util.h"

#define FIND_EVERY_NS NS_PER_S
#define DESCRIPTORS_MAX 4096 /* looked at, of a process; a GPU is opened early */

static int keep_client(struct gpu_clients *clients, const struct gpu_client *client)
{
        for (size_t i = 0; i < clients->n; i++) {
                struct gpu_client *known = &clients->list[i];

                if (gpu_same_client(known, client)) {
                        known->busy_ns = MAX(known->busy_ns, client->busy_ns);
                        return 0;
                }
        }
        if (util_grow(&clients->list, &clients->capacity, clients->n + 1, sizeof(*client)) < 0)
                return -ENOMEM;
        clients->list[clients->n++] = *client;
        return 0;
}

/* 0, also where it is no GPU's; -ENOENT: it has gone; -ENOMEM. */
static int read_place(struct gpu_clients *clients, int proc_fd, const struct gpu_place *place)
{
        struct gpu_client client;
        char path[48], text[4096];

        snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)place->pid, place->fd);
        if (util_read_at(proc_fd, path, text, sizeof(text)) <= 0)
                return -ENOENT;
        return gpu_parse_fdinfo(text, &client) ? keep_client(clients, &client) : 0;
}

static bool is_gpu(int folder_fd, const char *name)
{
        char target[64];
        ssize_t length = readlinkat(folder_fd, name, target, sizeof(target) - 1);

        if (length <= 0)
                return false;
        target[length] = '\0';
        return strncmp(target, "/dev/dri/render", 15) == 0 || strncmp(target, "/dev/dri/card", 13) == 0;
}

static int find_places(struct gpu_clients *clients, int proc_fd, pid_t pid)
{
        _cleanup_closedir_ DIR *folder = NULL;
        struct dirent *entry;
        char path[32];

        snprintf(path, sizeof(path), "%d/fd", (int)pid);
        folder = util_opendir_at(proc_fd, path);
        for (size_t n = 0; folder && n < DESCRIPTORS_MAX && (entry = readdir(folder)); n++) {
                uint64_t number;

                if (util_parse_u64(entry->d_name, &number) < 0 || number > INT32_MAX ||
                    !is_gpu(dirfd(folder), entry->d_name))
                        continue;
                if (util_grow(&clients->places, &clients->places_capacity, clients->n_places + 1,
                              sizeof(*clients->places)) < 0)
                        return -ENOMEM;
                clients->places[clients->n_places++] = (struct gpu_place){ pid, (int)number };
        }
        return 0;
}

static int find(struct gpu_clients *clients, int proc_fd, pid_t pid)
{
        struct family family;
        int err = 0;

        family_find(&family, proc_fd, pid);
        clients->n_places = 0;
        for (size_t i = 0; !err && i < family.n; i++)
                err = find_places(clients, proc_fd, family.list[i]);
        return err;
}

int gpu_clients_look(struct gpu_clients *clients, int proc_fd, pid_t pid, uint64_t now_ns)
{
        int err = 0;

        if (clients->found_ns == 0 || now_ns - clients->found_ns >= FIND_EVERY_NS) {
                clients->found_ns = now_ns;
                err = find(clients, proc_fd, pid);
        }
        for (size_t i = 0; !err && i < clients->n_places; i++) {
                err = read_place(clients, proc_fd, &clients->places[i]);
                if (err == -ENOENT)
                        err = 0;
        }
        return err;
}

uint64_t gpu_clients_busy_ns(const struct gpu_clients *clients)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < clients->n; i++)
                sum += clients->list[i].busy_ns;
        return sum;
}

void gpu_clients_clear(struct gpu_clients *clients)
{
        free(clients->list);
        free(clients->places);
        *clients = (struct gpu_clients){ 0 };
}
