/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tables in Markdown. A row consists of the cells between markdown_row() and
 * markdown_row_end().
 */

#include "report.h"

/*
 * Text from outside, for a paragraph or a cell: no character of it is markup, HTML, the end of a cell or of
 * a line, a link, a mention of a person or of an issue.
 */
void markdown_text(FILE *file, const char *text);

/* A caption and the head; @heads ends with NULL; the first column is text, and so are those that begin with "<". */
void markdown_table(FILE *file, const char *caption, const char *const *heads);
void markdown_table_end(FILE *file);
void markdown_row(FILE *file);
void markdown_row_end(FILE *file);
void markdown_word(FILE *file, const char *word);  /* a cell with a word of this program */
void markdown_name(FILE *file, const char *app, const char *name); /* a cell with an app's name */
void markdown_time(FILE *file, int64_t time_ns, bool day_only);
void markdown_number(FILE *file, double value, double resolution, const char *unit); /* NaN: "unknown" */
void markdown_bounds(FILE *file, const struct cost_value *value, const char *unit);
/* A number and its interval. */
void markdown_value(FILE *file, const struct cost_value *value, const char *unit);

/* The sections. */
void markdown_costs(FILE *file, const struct report *report);
void markdown_times(FILE *file, const struct report *report);
void markdown_compare(FILE *file, const struct report *report);
void markdown_model(FILE *file, const struct report *report);
void markdown_battery(FILE *file, const struct report *report);
