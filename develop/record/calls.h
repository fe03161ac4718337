/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Counts calls by uprobes, in another run: of the library functions that the program's own code called in the runs
 * before, and of the functions by which programs show a frame.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLS_FUNCTIONS_MAX 64 /* most functions of each program: those that take most energy */
/* Least share of a program's energy: a probe costs microseconds a call, and cheap functions are called most. */
#define CALLS_SHARE_MIN 0.01
#define CALLS_SHOWS 9          /* ways to show a frame */

struct recording;

struct called {
        char *name, *path; /* the frame's name, and the file with the function */
        uint64_t offset;   /* offset of the function in the file */
        int fd;            /* descriptor of the probe; -1: none */
};

struct called_list {
        struct called *list;
        size_t n, capacity;
        int tracefs; /* tracefs, which has the events of open probes; -1: no probe is open */
        /* Ways to show a frame, in the order of preference; without a name: the program does not have its library. */
        struct called shows[CALLS_SHOWS];
};

#define CALLED_LIST_EMPTY { .tracefs = -1 }

/* Adds the functions of a recording that take most energy, and its ways to show frames, each once. 0; -ENOMEM. */
int calls_add(struct called_list *list, const struct recording *recording);
/*
 * Opens probes for @pid from its next exec on. A function that cannot be probed is left out. 0; -EACCES or
 * -ENOSYS: no function can be probed.
 */
int calls_open(struct called_list *list, pid_t pid);
void calls_close(struct called_list *list);
/* Text of calls.tsv: a heading, and lines "function@dso\tcalls"; free() it. NULL: no memory. */
char *calls_print(const struct called_list *list);
/* Number of frames shown: calls of the first way that was used; -1: no way to show frames was there to be counted. */
int64_t calls_frames(const struct called_list *list);
void calls_clear(struct called_list *list);
