/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Time for which a GPU worked for a program and its children, by what the kernel shows of their descriptors
 * (fdinfo of DRM).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/gpu.h"

struct gpu_place { /* a descriptor of a process */
        pid_t pid;
        int fd;
};

struct gpu_clients {
        struct gpu_client *list; /* clients of the GPU; each counts once, even if several processes have it open */
        size_t n, capacity;
        struct gpu_place *places;
        size_t n_places, places_capacity;
        uint64_t found_ns; /* when descriptors were looked for; 0: never */
};

/*
 * gpu_clients_look() - reads the clients again, and looks for new ones from time to time
 * @proc_fd: descriptor of /proc
 * @pid:     the program
 *
 * 0; -ENOMEM. Clients that have gone since are kept as they were at the last look.
 */
int gpu_clients_look(struct gpu_clients *clients, int proc_fd, pid_t pid, uint64_t now_ns);
uint64_t gpu_clients_busy_ns(const struct gpu_clients *clients);
void gpu_clients_clear(struct gpu_clients *clients);
