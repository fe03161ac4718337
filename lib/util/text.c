/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "util.h"

#define UNIT_MAX 3 /* letters */

/* Terminals draw these in two columns (Unicode's East Asian wide blocks and emoji) and those in none. */
static size_t character_width(uint32_t c)
{
        static const struct {
                uint32_t first, last;
                uint8_t width;
        } blocks[] = {
                { 0x0300, 0x036f, 0 }, { 0x1100, 0x115f, 2 },   { 0x200b, 0x200f, 0 },
                { 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },
                { 0xfe00, 0xfe0f, 0 }, { 0xfe30, 0xfe6f, 2 },   { 0xff00, 0xff60, 2 },
                { 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
                if (c >= blocks[i].first && c <= blocks[i].last)
                        return blocks[i].width;
        }
        return 1;
}

size_t text_width(const char *text)
{
        size_t width = 0;

        while (*text) {
                unsigned char c = (unsigned char)*text++;
                uint32_t point = c < 0x80 ? c : c < 0xe0 ? c & 0x1fu : c < 0xf0 ? c & 0x0fu : c & 0x07u;

                while (c >= 0xc0 && ((unsigned char)*text & 0xc0) == 0x80)
                        point = point << 6 | ((unsigned char)*text++ & 0x3fu);
                width += character_width(point);
        }
        return width;
}

void text_column(FILE *file, const char *text, size_t columns, bool right)
{
        size_t width = text_width(text);
        int blanks = (int)(columns > width ? columns - width : 0);

        fprintf(file, "%*s%s%*s", right ? blanks : 0, "", text, right ? 0 : blanks, "");
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number and its unit stay together: "%", or a short word, as in "4 h" and "2 min". */
static bool is_unit(const char *number_end, const char *word)
{
        size_t letters = 0;

        while (letters < UNIT_MAX && is_letter(word[letters]))
                letters++;
        return *word == '%' || (*number_end >= '0' && *number_end <= '9' && letters > 0 && !is_letter(word[letters]));
}

static size_t word_length(const char *word)
{
        size_t length = strcspn(word, " ");

        while (length > 0 && word[length] == ' ' && is_unit(word + length - 1, word + length + 1))
                length += 1 + strcspn(word + length + 1, " ");
        return length;
}

void text_wrap(FILE *file, const char *text, size_t column, size_t indent, size_t width)
{
        bool first = true;

        for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
                size_t length = word_length(word);
                _cleanup_free_ char *copy = strndup(word, length);
                size_t wide = copy ? text_width(copy) : length;

                if (!first && column + 1 + wide > width) {
                        fprintf(file, "\n%*s", (int)indent, "");
                        column = indent;
                        first = true;
                }
                column +=
                        (size_t)fprintf(file, "%s%.*s", first ? "" : " ", (int)length, word) - length + wide;
                first = false;
                word += length;
        }
}

void text_paragraphs(FILE *file, const char *text, size_t width)
{
        while (*text) {
                size_t blanks = strspn(text, " "), length = strcspn(text, "\n");
                _cleanup_free_ char *copy = NULL;

                while (blanks == 0 && length > 0 && text[length] && !strchr(" \n", text[length + 1]))
                        length += 1 + strcspn(text + length + 1, "\n");
                copy = strndup(text, length);
                for (char *at = copy; at && *at; at++)
                        *at = *at == '\n' ? ' ' : *at;
                if (!copy || (blanks > 0 && text_width(copy) <= width)) {
                        fprintf(file, "%.*s", (int)length, text);
                } else {
                        fprintf(file, "%*s", (int)blanks, "");
                        text_wrap(file, copy, blanks, blanks, width);
                }
                fputc('\n', file);
                text += length + (text[length] == '\n');
        }
}

void text_print(FILE *file, const char *format, ...)
{
        char text[1024];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        text_wrap(file, text, 0, 0, TEXT_COLUMNS);
        fputc('\n', file);
}

/* Writes to the stream's text. Returns no error, as the stream would write again; text_close() reports a failure. */
static ssize_t keep(void *cookie, const char *bytes, size_t size)
{
        struct text_kept *kept = cookie;

        if (kept->failed || util_grow(&kept->text, &kept->capacity, kept->length + size + 1, 1) < 0) {
                kept->failed = true;
                return (ssize_t)size;
        }
        memcpy(kept->text + kept->length, bytes, size);
        kept->length += size;
        kept->text[kept->length] = '\0';
        return (ssize_t)size;
}

FILE *text_open(struct text_kept *kept)
{
        FILE *file;

        *kept = (struct text_kept){ 0 };
        keep(kept, "", 0); /* so that an empty text is not NULL */
        if (kept->failed)
                return NULL;
        file = fopencookie(kept, "w", (cookie_io_functions_t){ .write = keep });
        if (!file)
                free(kept->text);
        return file;
}

char *text_close(FILE *file, struct text_kept *kept)
{
        bool failed = ferror(file) != 0;

        if (fclose(file) == 0 && !failed && !kept->failed)
                return kept->text;
        free(kept->text);
        return NULL;
}
