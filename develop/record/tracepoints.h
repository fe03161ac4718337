/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tracepoints that tell which call caused I/O, and the places of their fields in a sample. */

#include <stddef.h>
#include <stdint.h>

struct tracepoint_place {
        uint32_t offset, size; /* size 0: there is no such field */
};

struct tracepoint {
        uint64_t id; /* the kernel's id; 0: there is no such tracepoint */
        const char *filter;
        struct tracepoint_place value, name, code;
        struct tracepoint_place bytes;                                /* first bytes of a D-Bus message */
        struct tracepoint_place destination, path, interface, member; /* texts */
};

#define TRACEPOINTS_MAX 24

struct tracepoints {
        struct tracepoint list[TRACEPOINTS_MAX]; /* by enum event_kind */
        size_t n;                                /* number of tracepoints that there are */
};

/*
 * Finds them in tracefs, which need not be mounted anywhere. 0, also where some are missing; -EACCES: this
 * user may not; another negative errno: there is no tracefs.
 */
int tracepoints_find(struct tracepoints *ret);

/* Opens tracefs; close() it. -EACCES: this user may not; another negative errno: there is no tracefs. */
int tracepoints_open(void);

/* Finds the field @name in the text of a `format` file. 0; -ENOENT; -EINVAL. */
int tracepoints_field(const char *text, const char *name, struct tracepoint_place *ret);
/* Reads a field's number from @size bytes of a sample; 0: it is not in them. */
uint64_t tracepoints_number(const struct tracepoint_place *field, const char *raw, size_t size);
