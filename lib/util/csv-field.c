/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "csv-field.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

static int refuse(const char **why, const char *sentence)
{
        *why = sentence;
        return -EINVAL;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

static void skip_blanks(struct csv_reader *reader)
{
        while (reader->trims && reader->at < reader->end && is_blank(*reader->at))
                reader->at++;
}

int csv_field(struct csv_reader *reader, char buf[CSV_FIELD_MAX], const char **why)
{
        bool quoted, trims = reader->trims;
        size_t n = 0;

        skip_blanks(reader);
        quoted = reader->at < reader->end && *reader->at == '"';
        if (quoted)
                reader->at++;
        while (reader->at < reader->end) {
                char c = *reader->at;

                if (quoted && c == '"') {
                        reader->at++;
                        if (reader->at == reader->end || *reader->at != '"') {
                                quoted = trims = false;
                                skip_blanks(reader);
                                break;
                        }
                } else if (!quoted && (c == ',' || c == '\n' || c == '\r')) {
                        break;
                }
                if (c == '\0' || n == CSV_FIELD_MAX - 1)
                        return refuse(why, c ? "a field is too long" : "not a text in UTF-8 (a byte of 0)");
                buf[n++] = c;
                reader->at++;
        }
        while (trims && n > 0 && is_blank(buf[n - 1]))
                n--;
        buf[n] = '\0';
        if (quoted)
                return refuse(why, "a quote is not closed");
        if (reader->at < reader->end && *reader->at == ',') {
                reader->at++;
                return 1;
        }
        if (reader->at < reader->end && *reader->at == '\r')
                reader->at++;
        if (reader->at == reader->end)
                return refuse(why, "the table is cut off (its last line has no newline; add one if it is complete)");
        if (*reader->at != '\n')
                return refuse(why, "text after a closing quote, or a carriage return inside a field");
        reader->at++;
        return 0;
}

int csv_load(const char *path, const char *what, const struct log *log, char **ret, size_t *length)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, too */
        _cleanup_free_ char *text = NULL;
        struct stat status;
        ssize_t n;
        int err;

        if (fd < 0 || fstat(fd, &status) < 0) {
                err = -errno;
                log_error(log, "%s: cannot read the %s: %s", path, what, strerror(-err));
                return err;
        }
        if (!S_ISREG(status.st_mode) || status.st_size > CSV_BYTES_MAX) {
                log_error(log, "%s: not a %s (%s)", path, what,
                          S_ISREG(status.st_mode) ? "larger than 64 MiB" : "not a regular file");
                return -EINVAL;
        }
        text = malloc((size_t)status.st_size + 2);
        if (!text)
                return -ENOMEM;
        n = util_read_at(AT_FDCWD, path, text, (size_t)status.st_size + 2);
        if (n < 0) {
                log_error(log, "%s: cannot read the %s: %s", path, what, strerror((int)-n));
                return (int)n;
        }
        if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* the mark of UTF-8 that spreadsheets write */
                n -= 3;
                memmove(text, text + 3, (size_t)n);
        }
        *ret = TAKE_PTR(text);
        *length = (size_t)n;
        return 0;
}
