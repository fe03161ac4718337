/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Members of an observation and of a run: the same word in struct, SQL column and JSON. */

#include "observation.h"

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

#define OBSERVATION_FIELDS 28 /* all but the method and the usage */
#define RUN_FIELDS 9          /* all but the description */
extern const struct field observation_fields[OBSERVATION_FIELDS], run_fields[RUN_FIELDS];
