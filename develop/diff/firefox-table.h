/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tables of the Firefox Profiler: an object of columns, or a schema and rows. */

#include "json-text.h"

struct firefox_column {
        const char *name;
        bool there;
        double *values; /* NAN: null */
        size_t n, capacity;
};

struct firefox_strings {
        bool there;
        const char **at; /* start of each string in the file */
        size_t n, capacity;
        const char *end; /* end of the file's text */
};

/*
 * Reads the columns that the table has; all of these get the same length. 0; -ENOMEM; -EBADMSG; -E2BIG:
 * more than 4 million rows.
 */
int firefox_table_read(struct json_text table, struct firefox_column *columns, size_t n);
int firefox_table_read_strings(struct json_text list, struct firefox_strings *ret);
/* Copies the string at @index to @buf, and returns its length; 0: it or @index is null; -1: there is none. */
long firefox_table_string(const struct firefox_strings *strings, double index, char *buf, size_t size);
