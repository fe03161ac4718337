/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The output of `joulecast diff`, for people and for programs. */

#include "json-write.h"
#include "matrix.h"

struct cJSON;

#define DIFF_AMOUNT_SIZE 64
#define DIFF_FILE_MAX ((size_t)512 << 20) /* bytes of --folded and --pprof, before compression */

/* How many tasks a table shows; JSON has all. */
struct diff_limit {
        size_t rows; /* SIZE_MAX: all */
        bool given;  /* the user gave it; else no more than a screen or two is shown */
};

int diff_main(int argc, char **argv); /* the command; an exit code */

int answer_print_tasks(const struct comparison *comparison); /* as JSON; an exit code */
void answer_table(const struct comparison *comparison, int alpha, const struct diff_limit *limit);
char *answer_page(const struct comparison *comparison, int alpha); /* HTML, to free(); NULL: no memory */
/*
 * Both programs' trees joined into one, for other tools: folded stacks with two counts, and a profile of
 * pprof with three values. free() @ret. 0; -E2BIG: more than DIFF_FILE_MAX, or too many nodes; -ERANGE: values
 * need more than 64 bits; -ENOTSUP: built without zlib; -ENOMEM.
 */
int answer_folded(const struct comparison *comparison, char **ret, size_t *length);
int answer_pprof(const struct comparison *comparison, char **ret, size_t *length);
int answer_print_matrix(const struct matrix *matrix, bool bisect); /* as JSON; an exit code */
/* Prints notes about several programs. @intervals: the table leaves out intervals if there are many programs. */
void answer_matrix_notes(const struct matrix *matrix, bool intervals);
void answer_matrix_table(const struct matrix *matrix, bool bisect, const struct diff_limit *limit);

/* A value with its unit, short: "12.4 J", "350", "3.1 ms". @buf of DIFF_AMOUNT_SIZE. */
const char *answer_amount(const char *unit, double value, char *buf);
/* "11.8 .. 13.1 J" */
const char *answer_bounds(const char *unit, struct estimate estimate, char *buf);
/* A cell for what a task costs a program. */
struct table;
void answer_add_amount(struct table *table, const char *unit, const struct task_side *side);
/* The number of tasks that are shown out of @n. The first @significant tasks are significant. */
size_t answer_shown(const struct diff_limit *limit, size_t n, size_t significant);
/* Prints how many tasks are not shown. */
void answer_left_out(size_t n, size_t significant, size_t shown);

/*
 * Parts of the JSON: @head, which is freed, then lists of rows, a line each, and ']' after each list.
 * False: no memory.
 */
bool answer_begin_json(struct cJSON *head);
void answer_begin_rows(const char *key);
struct json_writer answer_begin_row(bool first);
int answer_end_json(void); /* an exit code */
void answer_write_estimate(struct json_writer *json, const char *key, struct estimate estimate);
void answer_write_side(struct json_writer *json, const struct task_side *side); /* keys of an object */
/* Writes the path from the root to the framework call, as in the input. */
void answer_write_path(struct json_writer *json, const char *key, const struct side *side, int32_t node);
