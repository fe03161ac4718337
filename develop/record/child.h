/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A program that waits before its exec until it can be watched, and its result. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
        pid_t pid;
        int go_fd, failed_fd; /* pipes: to let it run, and to learn why its exec failed */
        int pid_fd;           /* readable when it has ended */
        uint64_t start_ns;    /* CLOCK_MONOTONIC */
};

struct child_result {
        int status; /* its exit status, or 128 + the signal that ended it */
        double wall_s, cpu_s;
        uint64_t storage_bytes;             /* bytes that it wrote and that must reach a storage */
        /* Bytes by read() and write() and their like, with those of the children that it waited for. */
        uint64_t read_bytes, written_bytes;
};

struct child_place {
        int fds[3];          /* its stdin, stdout and stderr; -1: ours */
        const char *display; /* its DISPLAY; NULL: ours */
        const char *wayland; /* its WAYLAND_DISPLAY, and no DISPLAY; NULL: ours */
        bool terminal;       /* fds[0] becomes its controlling terminal */
        const char *screen;  /* screen of an X server for it, as in "1080x1920x24"; NULL: 1280x800x24 */
};

#define CHILD_NOWHERE ((struct child_place){ .fds = { -1, -1, -1 } })

/* Starts it, so that it waits before its exec. child_end() it in any case. 0; a negative errno. */
int child_start(char *const argv[], const struct child_place *place, struct child *ret);
/* Lets it run. 0; the negative errno of its exec. */
int child_go(struct child *child);
/* Waits until it has ended. 0; a negative errno. */
int child_wait(struct child *child, struct child_result *ret);
/* Kills it if it has not ended. */
void child_end(struct child *child);
