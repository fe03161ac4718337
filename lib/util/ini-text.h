/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * INI texts (profile, scenario, configuration) by inih, with two additions: the line of each key, and an error for
 * text that is binary, cut off or has lines that inih would truncate.
 */

#include <stddef.h>

#include "log.h"

#define INI_LINE_MAX 190 /* inih cuts lines at 200 and passes the cut value on before it complains */

struct ini_place {
        const char *name; /* name of the file, for people */
        unsigned line;    /* 1 is the first; 0: the file as a whole */
        const struct log *log;
};

/* Handles one key. 0, or a negative errno after ini_error(); the first error ends the parsing. */
typedef int (*ini_handler_t)(void *data, const struct ini_place *place, const char *section, const char *key,
                             const char *value);

/*
 * Return: 0; -EINVAL after one sentence to @log; the handler's error. The values must not be applied before this
 * returns 0.
 */
int ini_text_parse(const char *text, size_t length, const char *name, const struct log *log,
                   ini_handler_t handler, void *data);

/* "NAME:LINE: sentence" as an error; returns -EINVAL. */
int ini_error(const struct ini_place *place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Reads a whole file of at most @max bytes, malloc()ed, NUL-terminated;
 * logs errors. 0 or a negative errno.
 */
int ini_text_read(const char *path, size_t max, const struct log *log, char **ret, size_t *ret_length);

/* The words that ini_text_read() logs for an error. */
const char *ini_text_error(int err);

/* Parses a finite number in min..max; otherwise logs the error with @key. */
int ini_number(const struct ini_place *place, const char *key, const char *value, double min, double max,
               double *ret);
