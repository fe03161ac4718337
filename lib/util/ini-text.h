/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * INI texts (profile, scenario, configuration) by inih, with what inih lacks: the line of each key, and an error
 * for text that is binary, cut off or has lines that inih would truncate.
 */

#include <stddef.h>

#include "log.h"

#define INI_LINE_MAX 190 /* inih cuts lines at 200 and passes the cut value on before it complains */

struct ini_place {
        const char *name; /* of the file, for people */
        unsigned line;    /* 1 is the first; 0: the file as a whole */
        const struct log *log;
};

/* One key. 0, or a negative errno after ini_error(); the first error ends the parsing. */
typedef int (*ini_handler_t)(void *data, const struct ini_place *place, const char *section, const char *key,
                             const char *value);

/*
 * Return: 0; -EINVAL after one sentence to @log; what the handler returned. The handler must not apply
 * anything before this returns 0.
 */
int ini_text_parse(const char *text, size_t length, const char *name, const struct log *log,
                   ini_handler_t handler, void *data);

/* "NAME:LINE: sentence" as an error; returns -EINVAL. */
int ini_error(const struct ini_place *place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A whole file of at most @max bytes, malloc()ed, NUL-terminated;
 * says what is wrong. 0 or a negative errno.
 */
int ini_text_read(const char *path, size_t max, const struct log *log, char **ret, size_t *ret_length);

/* What ini_text_read() says of an error. */
const char *ini_text_error(int err);

/* A finite number in min..max; says what is wrong with @key otherwise. */
int ini_number(const struct ini_place *place, const char *key, const char *value, double min, double max,
               double *ret);
