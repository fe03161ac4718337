/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text as a terminal shows it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_COLUMNS 80 /* of a sentence, where nothing is known of the terminal */

/* Columns of a terminal that a text takes. */
size_t text_width(const char *text);

/* Prints a text in so many columns, with blanks after it, or before it if @right; one that is longer as it is. */
void text_column(FILE *file, const char *text, size_t columns, bool right);

/*
 * Prints words, in lines that end at @width: the first goes on at @column, all others begin at @indent. A
 * word that is longer has a line of its own. No newline at the end.
 */
void text_wrap(FILE *file, const char *text, size_t column, size_t indent, size_t width);

/*
 * Prints paragraphs: lines that follow each other are joined and wrapped; an empty line separates paragraphs, and a
 * line that begins with blanks is one, and wrapped below them. Ends with a newline.
 */
void text_paragraphs(FILE *file, const char *text, size_t width);

/*
 * A stream whose text is kept. open_memstream() has a hole where there was no memory, or no text, and says nothing.
 * Between fflush() and what is written next, @text and @length are all that was written.
 */
struct text_kept {
        char *text;
        size_t length, capacity;
        bool failed;
};

FILE *text_open(struct text_kept *kept); /* NULL: no memory */
/* Closes the stream. The text, to free(); NULL: no memory for all of it. */
char *text_close(FILE *file, struct text_kept *kept);

/* A paragraph of TEXT_COLUMNS. */
void text_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
