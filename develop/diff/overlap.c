/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "overlap.h"

#include <math.h>
#include <stdio.h>

#include "diff.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static bool has(const struct matrix_row *row, size_t program)
{
        return row->cells[program].node >= 0;
}

void overlap_count(const struct matrix *matrix, struct overlap *ret)
{
        double all[DIFF_SIDES_MAX] = { 0 }, shared[DIFF_SIDES_MAX] = { 0 };

        *ret = (struct overlap){ 0 };
        for (size_t i = 0; i < matrix->n; i++) {
                const struct matrix_row *row = &matrix->rows[i];
                size_t n = 0;

                for (size_t a = 0; a < matrix->n_sides; a++)
                        n += has(row, a);
                for (size_t a = 0; a < matrix->n_sides; a++) {
                        if (!has(row, a))
                                continue;
                        ret->with[a][n - 1]++;
                        all[a] += row->cells[a].sampled.value;
                        shared[a] += n > 1 ? row->cells[a].sampled.value : 0;
                        for (size_t b = 0; b < matrix->n_sides; b++)
                                ret->common[a][b] += has(row, b);
                }
        }
        for (size_t a = 0; a < matrix->n_sides; a++)
                ret->share[a] = all[a] > 0 ? shared[a] / all[a] : NAN;
}

double overlap_part(const struct overlap *overlap, size_t a, size_t b)
{
        size_t common = overlap->common[a][b], all = overlap->common[a][a] + overlap->common[b][b] - common;

        return all ? (double)common / (double)all : NAN;
}

static void add_percent(struct table *table, double part)
{
        if (isnan(part))
                table_cell(table, "-");
        else
                table_cell(table, "%.0f %%", 100 * part);
}

/* Prints a column for each number of other programs: all of them first, none last. */
static void print_with(const struct matrix *matrix, const struct overlap *overlap)
{
        char alignment[DIFF_SIDES_MAX + 8];
        _cleanup_(table_freep) struct table *table = NULL;

        snprintf(alignment, sizeof(alignment), "lnr%.*sr", (int)matrix->n_sides, "rrrrrrrrrrrrrrrr");
        table = table_new(alignment);
        table_row(table, TABLE_HEAD);
        table_cell(table, "%s", "");
        table_cell(table, "%s", _("Program"));
        table_cell(table, "%s", _("Tasks"));
        for (size_t n = matrix->n_sides; n-- > 0;)
                table_cell(table, _("With %zu"), n);
        table_cell(table, "%s", _("Cost shared"));
        for (size_t a = 0; a < matrix->n_sides; a++) {
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%c", (char)('A' + a));
                table_cell(table, "%s", matrix->sides[a].name);
                table_cell(table, "%zu", overlap->common[a][a]);
                for (size_t n = matrix->n_sides; n-- > 0;)
                        table_cell(table, "%zu", overlap->with[a][n]);
                add_percent(table, overlap->share[a]);
        }
        table_print(table);
}

/* Below the diagonal: numbers of common tasks. Above it: their part of all tasks of the two programs. */
static void print_pairs(const struct matrix *matrix, const struct overlap *overlap)
{
        char alignment[DIFF_SIDES_MAX + 8];
        _cleanup_(table_freep) struct table *table = NULL;

        snprintf(alignment, sizeof(alignment), "l%.*s", (int)matrix->n_sides, "rrrrrrrrrrrrrrrr");
        table = table_new(alignment);
        table_row(table, TABLE_HEAD);
        table_cell(table, "%s", "");
        for (size_t b = 0; b < matrix->n_sides; b++)
                table_cell(table, "%c", (char)('A' + b));
        for (size_t a = 0; a < matrix->n_sides; a++) {
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%c", (char)('A' + a));
                for (size_t b = 0; b < matrix->n_sides; b++)
                        if (b > a)
                                add_percent(table, overlap_part(overlap, a, b));
                        else
                                table_cell(table, "%zu", overlap->common[a][b]);
        }
        table_print(table);
}

void overlap_print(const struct matrix *matrix)
{
        struct overlap overlap;

        overlap_count(matrix, &overlap);
        table_text(TABLE_HEAD, "How many tasks of each program that many other programs have, too:");
        putchar('\n');
        print_with(matrix, &overlap);
        putchar('\n');
        table_text(TABLE_HEAD, "Tasks that two programs have in common, and above the diagonal their part of all tasks "
                               "of the two:");
        putchar('\n');
        print_pairs(matrix, &overlap);
        putchar('\n');
        answer_matrix_notes(matrix, false);
}
