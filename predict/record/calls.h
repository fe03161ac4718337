/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often the functions of libraries are called that the program's own code called in the runs before: another run, by uprobes. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLS_FUNCTIONS_MAX 64 /* the dearest of each program */
#define CALLS_SHARE_MIN 0.01   /* of its energy: a probe costs microseconds a call, and cheap functions are called most */

struct recording;

struct called {
        char *name, *path; /* of its frame; the file */
        uint64_t offset;   /* in it */
        double nj;
};

struct called_list {
        struct called *list;
        size_t n, capacity;
};

/* Adds the dearest of a recording; those that are in the list stay once. 0; -ENOMEM. */
int calls_add(struct called_list *list, const struct recording *recording);
void calls_clear(struct called_list *list);
/*
 * calls_count() - run a program with probes
 * @ret: calls.tsv: a heading, and lines "function@dso\tcalls"; free() it
 *
 * 0; a negative errno after its sentence.
 */
int calls_count(char *const argv[], const struct called_list *list, char **ret);
