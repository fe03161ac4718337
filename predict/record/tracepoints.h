/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tracepoints that tell which call caused I/O, and where their fields are in a sample. */

#include <stddef.h>
#include <stdint.h>

struct tracepoint_place {
        uint32_t offset, size; /* size 0: there is no such field */
};

struct tracepoint {
        uint64_t id; /* 0: it is not there */
        const char *filter;
        struct tracepoint_place value, name, code;
        struct tracepoint_place bytes;                                /* of a message of D-Bus */
        struct tracepoint_place destination, path, interface, member; /* texts */
};

#define TRACEPOINTS_MAX 24

struct tracepoints {
        struct tracepoint list[TRACEPOINTS_MAX]; /* by enum event_kind */
        size_t n;                                /* how many are there */
};

/*
 * Finds them in tracefs, which need not be mounted anywhere. 0, also where some are missing; -EACCES: this user may not; another
 * negative errno: there is no tracefs.
 */
int tracepoints_find(struct tracepoints *ret);

/* tracefs; close() it. -EACCES: this user may not; another negative errno: there is none. */
int tracepoints_open(void);

/* The field @name in the text of a `format` file. 0; -ENOENT; -EINVAL. */
int tracepoints_field(const char *text, const char *name, struct tracepoint_place *ret);
/* Its number in @size bytes of a sample; 0: it is not in them. */
uint64_t tracepoints_number(const struct tracepoint_place *field, const char *raw, size_t size);
