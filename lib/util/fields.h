/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Members of a struct by one table: the same word in struct, SQL column and JSON. */

#include <stddef.h>

enum field_kind {
        FIELD_U32,
        FIELD_U64,
        FIELD_I64,  /* a decimal string in JSON: realtime in ns is beyond 2^53 */
        FIELD_REAL, /* NaN is null */
        FIELD_BOOL,
        FIELD_TEXT,
};

struct field {
        const char *name;
        enum field_kind kind;
        size_t offset;
        size_t size; /* buffer size of a text, with its NUL */
};

#define FIELD(type, member, kind_)                                                                           \
        { #member, FIELD_##kind_, offsetof(struct type, member), sizeof(((struct type *)0)->member) }
