/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Readers of stacks, a file a format. Each gets text, and adds what it says to the last run of @stacks; what is wrong is one
 * sentence to the log.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tree/stacks.h"
#include "util/log.h"

struct read {
        const char *name; /* of the file, for sentences; safe to print */
        const struct log *log;
        struct stacks *stacks;
        const char *unit; /* set by the reader: "samples", "nJ", "ns" */
};

/* A file is damaged, or is none: the sentence is told in the user's language, -EBADMSG. */
int read_damaged(const struct read *read, size_t line, const char *what);
/* Of a stacks_ or labels_ function: tells its sentence, and gives it back. */
int read_failed(const struct read *read, int err);

/* Is it UTF-8 without a NUL? */
bool read_is_text(const char *text, size_t length);

/* Adds a file, or what stands on stdin (-), as a run. 0; a negative errno after its sentence. */
int read_file(struct read *read, const char *path);

/* Lines "app;frame;frame count", in pieces that end where a line does. */
struct folded;
int folded_new(struct folded **ret);
void folded_freep(struct folded **folded);
int folded_parse(struct read *read, struct folded *folded, const char *text, size_t length);
