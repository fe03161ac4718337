/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tables for people: columns as wide as their content in a terminal (UTF-8), those with nothing below their
 * head left out, and colour only on a terminal.
 */

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

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
DEFINE_CLEANUP(struct table, table_free)
/*
 * Columns that are left out, in this order, where the terminal is too narrow: "A4" is column 10, then 4 as well. Those
 * that have no value in any row go before all others.
 */
void table_spare(struct table *table, const char *columns);
void table_row(struct table *table, enum table_style style); /* begins a row */
/* Adds the next cell, without control characters. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A row of TABLE_HEAD, looked up in the user's language; ends with NULL. */
void table_heads(struct table *table, ...) __attribute__((sentinel));
/* A whole row of texts, as they are; ends with NULL. */
void table_texts(struct table *table, enum table_style style, ...) __attribute__((sentinel));
/* In a terminal too narrow in several parts below each other. Nothing, where there was no memory for all of it. */
void table_print(struct table *table);
/* For the end of a main(): was that so? */
bool table_lost(void);

/*
 * Sentences, looked up in the user's language, wrapped at 80 columns or where the terminal ends; those
 * below a table are faint.
 */
void table_text(enum table_style style, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define table_note(...) table_text(TABLE_FAINT, __VA_ARGS__)

/* Prints at most @width columns of a text, with an ellipsis if it is cut; returns the number of printed columns. */
size_t table_print_cut(const char *text, size_t width);

/* Width in columns of the terminal at stdout; 0: stdout is no terminal. */
size_t table_columns(void);
