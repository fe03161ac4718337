/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ini-text.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

#include "util.h"

struct reader {
        struct ini_place place;
        const char *at;
        const char *end;
        ini_handler_t handler;
        void *data;
        int err; /* the first error */
};

int ini_error(const struct ini_place *place, const char *format, ...)
{
        char sentence[512], clean[512];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(sentence, sizeof(sentence), format, arguments);
        va_end(arguments);
        util_printable(sentence, clean, sizeof(clean));
        if (place->line > 0)
                log_error(place->log, "%s:%u: %s", place->name, place->line, clean);
        else
                log_error(place->log, "%s: %s", place->name, clean);
        return -EINVAL;
}

/* inih silently cuts a section's name after 49 bytes. */
#define SECTION_MAX 49

/*
 * Feeds inih one line at a time, so that the handler knows the line, and without indentation: inih would take an
 * indented line for another value of the key before, and an indented file for a single key.
 */
static char *next_line(char *line, int size, void *stream)
{
        struct reader *reader = stream;
        const char *newline;
        size_t length, blanks;

        if (reader->err || reader->at == reader->end)
                return NULL;
        newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        length = (size_t)(newline - reader->at) + 1; /* ini_text_parse() has ensured that the last line has a newline */
        reader->place.line++;
        if (length >= INI_LINE_MAX || length >= (size_t)size) {
                reader->err = ini_error(&reader->place, "the line has %zu characters; %d are the most",
                                        length - 1, INI_LINE_MAX - 2);
                return NULL;
        }
        blanks = strspn(reader->at, " \t");
        memcpy(line, reader->at + blanks, length - blanks);
        line[length - blanks] = '\0';
        reader->at += length;
        if (*line == '[' && strcspn(line + 1, "]\n") > SECTION_MAX) {
                reader->err = ini_error(&reader->place, "the section's name is longer than %d characters",
                                        SECTION_MAX);
                return NULL;
        }
        return line;
}

static int on_key(void *user, const char *section, const char *name, const char *value)
{
        struct reader *reader = user;
        size_t length = strlen(name) + strlen(" = ") + strlen(value);

        /* The length as printed: a profile that was read must be readable again after it is written. */
        if (!reader->err && length >= INI_LINE_MAX - 1)
                reader->err = ini_error(&reader->place,
                                        "the line has %zu characters with blanks around \"=\"; %d are the most",
                                        length, INI_LINE_MAX - 2);
        if (!reader->err)
                reader->err = reader->handler(reader->data, &reader->place, section, name, value);
        return 1;
}

static int check_text(struct ini_place place, const char *text, size_t length)
{
        place.line = 1;
        for (size_t i = 0; i < length; i++) {
                unsigned char c = (unsigned char)text[i];

                if (c == '\n' && i + 1 < length)
                        place.line++;
                if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
                        return ini_error(&place, "this is not a text: byte 0x%02x at offset %zu", c, i);
        }
        if (length == 0)
                return ini_error(&place, "the file is empty");
        if (text[length - 1] != '\n')
                return ini_error(&place, "the last line does not end in a newline: the file was cut off");
        return 0;
}

int ini_text_parse(const char *text, size_t length, const char *name, const struct log *log,
                   ini_handler_t handler, void *data)
{
        struct reader reader = {
                .place = { .name = name, .log = log },
                .at = text,
                .end = text + length,
                .handler = handler,
                .data = data,
        };
        int rc = check_text(reader.place, text, length);

        if (rc)
                return rc;
        rc = ini_parse_stream(next_line, &reader, on_key, &reader);
        if (reader.err)
                return reader.err;
        if (rc < 0)
                return -ENOMEM;
        if (rc > 0) {
                reader.place.line = (unsigned)rc;
                return ini_error(&reader.place, "this is neither [section] nor key = value");
        }
        return 0;
}

const char *ini_text_error(int err)
{
        return err == -EFBIG ? "the file is far too large to be what it should be" : strerror(-err);
}

int ini_text_read(const char *path, size_t max, const struct log *log, char **ret, size_t *ret_length)
{
        _cleanup_free_ char *text = malloc(max + 1);
        ssize_t length;

        if (!text)
                return -ENOMEM;
        length = util_read_at(AT_FDCWD, path, text, max + 1);
        if (length < 0) {
                log_error(log, "%s: %s", path, ini_text_error((int)length));
                return (int)length;
        }
        *ret_length = (size_t)length;
        *ret = TAKE_PTR(text);
        return 0;
}

int ini_number(const struct ini_place *place, const char *key, const char *value, double min, double max,
               double *ret)
{
        double number;
        int err = util_parse_double(value, &number);

        if (err == -ENOMEM)
                return err;
        if (err)
                return ini_error(place, "%s = %.60s is not a number", key, value);
        if (number < min || number > max)
                return ini_error(place, "%s = %.60s is out of range; it may be %.10g to %.10g", key, value,
                                 min, max);
        *ret = number;
        return 0;
}
