/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the processes that have a camera open, in /proc/PID/fd, which only root and the user of a process may
 * read.
 */

#include "held-tally.h"

#define CAMERA_USE_MAX 128

/*
 * Result of the last search. While the use counts of the drivers are unchanged and known descriptors are
 * still open, only a process that inherited or received a descriptor can be new: so only new processes are
 * read, and all processes at each CAMERA_LOOKS-th search.
 */
#define CAMERA_LOOKS 10

struct cameras {
        struct holders holders;
        struct camera_fd *fds; /* also descriptors of servers */
        size_t n_fds, capacity;
        char use[CAMERA_USE_MAX]; /* use counts of the drivers; "": unknown */
        uint64_t looked_ns;       /* boottime */
        unsigned looks;           /* searches since all processes were read */
};

/* Does the machine have a camera? */
bool camera_is_there(int root_fd);
/* Searches @sample's processes and those found before. Returns 0 or -ENOMEM. */
int camera_find(int root_fd, const struct sample *sample, struct cameras *cameras);
void camera_clear(struct cameras *cameras);
