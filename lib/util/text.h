/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text as a terminal shows it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_COLUMNS 80 /* width of paragraphs; table_text() takes a narrower terminal's instead */

/* Columns of a terminal that a text takes. */
size_t text_width(const char *text);

/* Prints a text padded to @columns, with blanks after it, or before it if @right. A longer text is not cut. */
void text_column(FILE *file, const char *text, size_t columns, bool right);

/*
 * Prints words, in lines that end at @width: the first continues at @column, all others begin at @indent. A longer
 * word has a line of its own. No newline at the end.
 */
void text_wrap(FILE *file, const char *text, size_t column, size_t indent, size_t width);

/*
 * Prints paragraphs: consecutive lines are joined and wrapped; an empty line separates paragraphs. A line that begins
 * with blanks is a paragraph of its own, indented by these. Ends with a newline.
 */
void text_paragraphs(FILE *file, const char *text, size_t width);

/*
 * A stream that writes to memory. It reports a lack of memory, while open_memstream() leaves out text silently. Between
 * fflush() and the next write, @text and @length are everything that was written.
 */
struct text_kept {
        char *text;
        size_t length, capacity;
        bool failed;
};

FILE *text_open(struct text_kept *kept); /* NULL: no memory */
/* Closes the stream. Returns the text, to be freed with free(); NULL: there was no memory for all of it. */
char *text_close(FILE *file, struct text_kept *kept);

/* Prints a paragraph, wrapped at TEXT_COLUMNS. */
void text_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
