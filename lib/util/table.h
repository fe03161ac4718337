/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tables for people: columns as wide as their content in a terminal (UTF-8), those without content left out, and
 * colour only on a terminal.
 */

#include <stdbool.h>
#include <stddef.h>

enum table_style {
        TABLE_PLAIN,
        TABLE_HEAD,  /* bold */
        TABLE_FAINT, /* rows of no app, and notes */
        TABLE_SUM,   /* a line above */
};

struct table;

/*
 * One letter a column: 'l' left, 'r' right, 'n' a name, left, which is cut in its middle where it is long, or the
 * terminal is narrow; different names stay different. NULL without memory; which all others take.
 */
struct table *table_new(const char *alignment);
void table_free(struct table *table);
void table_freep(struct table **table);
/* Columns that are left out, in this order, where the terminal is too narrow: "54" is 5, then 4 as well. */
void table_spare(struct table *table, const char *columns);
void table_row(struct table *table, enum table_style style); /* begins a row */
/* The next cell, without what would control a terminal. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A row of TABLE_HEAD, looked up in the user's language; ends with NULL. */
void table_heads(struct table *table, ...) __attribute__((sentinel));
/* A whole row of texts, as they are; ends with NULL. */
void table_texts(struct table *table, enum table_style style, ...) __attribute__((sentinel));
/* Nothing, where there was no memory for all of it. */
void table_print(struct table *table);
/* For the end of a main(): was that so? */
bool table_lost(void);

/* Sentences, looked up in the user's language, wrapped at 80 columns or where the terminal ends; those below a table are faint. */
void table_text(enum table_style style, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define table_note(...) table_text(TABLE_FAINT, __VA_ARGS__)

/* Prints so many columns of a text at most, with an ellipsis where it is cut; the columns that were. */
size_t table_print_cut(const char *text, size_t width);

/* Columns of the terminal that stdout is; 0: it is none. */
size_t table_columns(void);

/* stdout is a terminal, and NO_COLOR is not set. */
bool table_color(void);
