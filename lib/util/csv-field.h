/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Fields of CSV, which may be quoted as in RFC 4180. */

#include <stdbool.h>
#include <stddef.h>

#include "log.h"

#define CSV_FIELD_MAX 256
#define CSV_BYTES_MAX (64 << 20)

struct csv_reader {
        const char *at, *end; /* the text need not end in NUL */
        bool trims;           /* blanks around a field are not part of it */
};

/*
 * Reads one field into @buf, without quotes. 1: more follow on this line; 0: it was the last; -EINVAL: @why is the
 * reason.
 */
int csv_field(struct csv_reader *reader, char buf[CSV_FIELD_MAX], const char **why);

/*
 * Reads a whole file of at most CSV_BYTES_MAX; @what: the kind of file, for the sentence about an error. free() @ret.
 * 0 or a negative errno.
 */
int csv_load(const char *path, const char *what, const struct log *log, char **ret, size_t *length);
