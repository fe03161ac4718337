/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who has a camera open: /proc/PID/fd, which only root and the user of a process may read. */

#include "held-tally.h"

#define CAMERA_USE_MAX 128

/*
 * What the last look found. While as many have the drivers' nodes open, and who had one has it still, it can only be others
 * that inherited or were given one: new processes are looked at, all of them at each CAMERA_LOOKS-th look.
 */
#define CAMERA_LOOKS 10

struct cameras {
        struct holders holders;
        struct camera_fd *fds; /* those of servers, too */
        size_t n_fds, capacity;
        char use[CAMERA_USE_MAX]; /* how many have the drivers open; "": unknown */
        uint64_t looked_ns;       /* boottime */
        unsigned looks;           /* since all were looked at */
};

/* Whether a camera is there. */
bool camera_is_there(int root_fd);
/* Of @sample's processes, and of those found before. 0; -ENOMEM. */
int camera_find(int root_fd, const struct sample *sample, struct cameras *cameras);
void camera_clear(struct cameras *cameras);
