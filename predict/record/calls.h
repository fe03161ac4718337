/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How often the functions of libraries are called that the program's own code called in the runs before, and those by which programs
 * show a frame: another run, by uprobes.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLS_FUNCTIONS_MAX 64 /* the dearest of each program */
#define CALLS_SHARE_MIN 0.01   /* of its energy: a probe costs microseconds a call, and cheap functions are called most */
#define CALLS_SHOWS 9          /* ways to show a frame */

struct recording;

struct called {
        char *name, *path; /* of its frame; the file */
        uint64_t offset;   /* in it */
        int fd;            /* of its probe; -1: none */
};

struct called_list {
        struct called *list;
        size_t n, capacity;
        int tracefs; /* has an event for one of the next; -1: none */
        struct called shows[CALLS_SHOWS]; /* by the order of preference; without a name: the program does not have its library */
};

#define CALLED_LIST_EMPTY { .tracefs = -1 }

/* Adds the dearest of a recording, and how it can show frames; those that are in the list stay once. 0; -ENOMEM. */
int calls_add(struct called_list *list, const struct recording *recording);
/* Probes for @pid from its next exec on. A function that cannot be probed is left out. 0; -EACCES or -ENOSYS: none can. */
int calls_open(struct called_list *list, pid_t pid);
void calls_close(struct called_list *list);
/* calls.tsv: a heading, and lines "function@dso\tcalls"; free() it. NULL: no memory. */
char *calls_print(const struct called_list *list);
/* Frames that were shown: calls of the first way that was used; -1: no library to show frames with was seen. */
int64_t calls_frames(const struct called_list *list);
void calls_clear(struct called_list *list);
