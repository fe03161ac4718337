/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arrays.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 2000
#define BYTES_AT_ONCE 4000000

static void write_quoted(FILE *file, const char *text)
{
        putc('"', file);
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        putc('\\', file);
                putc(*text, file);
        }
        putc('"', file);
}

static void write_hex(FILE *file, const char *bytes, size_t length)
{
        static const char digits[] = "0123456789abcdef";

        fputs("\"\\\\x", file);
        for (size_t i = 0; i < length; i++) {
                putc_unlocked(digits[(unsigned char)bytes[i] >> 4], file);
                putc_unlocked(digits[bytes[i] & 15], file);
        }
        putc('"', file);
}

static size_t bytes_of(char type, const char *value, int length)
{
        if (type == 'b')
                return 2 * (size_t)length;
        return type == 't' && value ? strlen(value) : 8;
}

int arrays_add(struct arrays *arrays, const char *const *values, const int *lengths)
{
        for (size_t i = 0; i < strlen(arrays->types); i++) {
                char type = arrays->types[i];
                FILE *file = arrays->columns[i].file;

                if (!file)
                        file = arrays->columns[i].file = open_memstream(&arrays->columns[i].text,
                                                                        &arrays->columns[i].size);
                if (!file)
                        return -ENOMEM;
                putc(arrays->rows ? ',' : '{', file);
                if (!values[i])
                        fputs("NULL", file);
                else if (type == 'i')
                        fputs(values[i], file);
                else if (type == 't')
                        write_quoted(file, values[i]);
                else
                        write_hex(file, values[i], (size_t)lengths[i]);
                arrays->bytes += bytes_of(type, values[i], lengths[i]);
        }
        arrays->rows++;
        return arrays->rows >= ROWS_AT_ONCE || arrays->bytes >= BYTES_AT_ONCE;
}

/* A memory stream reports a failed write only when it is closed. */
static int close_all(struct arrays *arrays)
{
        int err = 0;

        for (size_t i = 0; i < DATABASE_PARAMETERS_MAX; i++) {
                if (!arrays->columns[i].file)
                        continue;
                if (fclose(arrays->columns[i].file) != 0)
                        err = -ENOMEM;
                arrays->columns[i].file = NULL;
        }
        return err;
}

int arrays_end(struct arrays *arrays, const char **ret)
{
        int err;

        for (size_t i = 0; i < strlen(arrays->types); i++)
                putc('}', arrays->columns[i].file);
        err = close_all(arrays);
        for (size_t i = 0; i < strlen(arrays->types); i++)
                ret[i] = arrays->columns[i].text;
        return err;
}

void arrays_clear(struct arrays *arrays)
{
        (void)close_all(arrays);
        for (size_t i = 0; i < DATABASE_PARAMETERS_MAX; i++) {
                free(arrays->columns[i].text);
                arrays->columns[i].text = NULL;
        }
        arrays->rows = arrays->bytes = 0;
}
