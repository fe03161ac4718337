/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parts of all pages of numbers: sections, tables, cells with values, names, times. Titles and captions are ours. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/component.h"

struct cost_value;

/* <section> with a heading; @id is not escaped. */
void page_section(FILE *file, const char *id, const char *title);
void page_section_end(FILE *file);
/*
 * A table in a box that scrolls if it is too wide. @heads: NULL ends them; the first column is text, as are columns
 * whose head begins with "<"; "<" alone is a minor column.
 */
void page_table(FILE *file, const char *caption, const char *const *heads);
void page_table_end(FILE *file);
/*
 * Marks in the colour of a component, which is the same on every page: a key in front of its name, and a cell with a
 * bar of all components.
 */
void page_component_key(FILE *file, enum component component);
/* @scale: percent of the cell's width per joule. Unknown and negative components are left out. */
void page_component_bar(FILE *file, const double component_j[COMPONENT_COUNT], double scale);
/* <td> with a value and its unit; the whole number is in the "value" of <data>. NaN: "unknown". */
void page_cell(FILE *file, double value, double resolution, const char *unit);
/* <td> with both bounds of an interval. */
void page_bounds(FILE *file, const struct cost_value *value, const char *unit);
/* The name of an app; in quotes if it is equal to the name of a row of ours. */
void page_name(FILE *file, const char *app, const char *name);
void page_time(FILE *file, int64_t time_ns, bool day_only); /* <time> */
char *page_when(int64_t time_ns, bool day_only, char buf[32]); /* "Tue 24 Nov 14:00" */
