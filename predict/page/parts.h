/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What pages of numbers share: sections, tables, cells with values, names and times. Titles and captions are ours. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cost_value;

/* <section> with a heading; @id: of ours. */
void page_section(FILE *file, const char *id, const char *title);
void page_section_end(FILE *file);
/* A table in a box that scrolls where it is too wide. @heads: NULL ends them; the first column is text, "<" begins others that are. */
void page_table(FILE *file, const char *caption, const char *const *heads);
void page_table_end(FILE *file);
/* <td> with a value and its unit; the whole number is in the "value" of <data>. NaN: "unknown". */
void page_cell(FILE *file, double value, double resolution, const char *unit);
/* <td> with both bounds of an interval. */
void page_bounds(FILE *file, const struct cost_value *value, const char *unit);
/* The name of an app; in quotes where it is called like a row of ours. */
void page_name(FILE *file, const char *app, const char *name);
void page_time(FILE *file, int64_t time_ns, bool day_only); /* <time> */
char *page_when(int64_t time_ns, bool day_only, char buf[32]); /* "Tue 24 Nov 14:00" */
