/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Several programs side by side, for people. Programs are letters, which a legend explains. */

#include <math.h>
#include <stdio.h>

#include "diff.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

#define INTERVALS_MAX 4 /* programs whose values have room for their intervals */

static char letter(size_t program)
{
        return (char)('A' + program);
}

static void print_programs(const struct matrix *matrix)
{
        _cleanup_(table_freep) struct table *table = table_new("llrrr");
        char text[DIFF_AMOUNT_SIZE];

        table_heads(table, "", N_("Program"), N_("Total"), N_("Runs"), N_("Without a frame of the app"), NULL);
        for (size_t i = 0; i < matrix->n_sides; i++) {
                const struct side *side = &matrix->sides[i];

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%c", letter(i));
                table_cell(table, "%s", side->name);
                table_cell(table, "%s", answer_amount(side->unit, side_value(side, 0), text));
                table_cell(table, "%zu", side->contexts.n_runs);
                table_cell(table, "%.1f %%", 100 * side_without_app(side));
        }
        table_print(table);
}

static void add_value(struct table *table, const struct matrix *matrix, const struct task_side *cell)
{
        char text[2][DIFF_AMOUNT_SIZE];
        const char *unit = matrix->sides[0].unit;

        if (cell->node < 0 || matrix->n_sides > INTERVALS_MAX)
                answer_add_amount(table, unit, cell);
        else
                table_cell(table, "%s ±%s", answer_amount(unit, cell->interval.value, text[0]),
                           answer_amount(unit,
                                         MAX(cell->interval.high - cell->interval.value,
                                             cell->interval.value - cell->interval.low),
                                         text[1]));
}

static void add_names(struct table *table, const struct matrix *matrix, const struct matrix_row *row)
{
        char name[FRAME_NAME_MAX];

        table_cell(table, "%s", matrix_name(matrix, row, name, sizeof(name)));
        table_cell(table, "%s", matrix_from(matrix, row, name, sizeof(name)));
}

static void print_rows(const struct matrix *matrix, size_t shown)
{
        char alignment[DIFF_SIDES_MAX + 8], text[DIFF_AMOUNT_SIZE];
        const char *unit = matrix->sides[0].unit;
        _cleanup_(table_freep) struct table *table = NULL;

        snprintf(alignment, sizeof(alignment), "nn%.*srr", (int)matrix->n_sides, "rrrrrrrrrrrrrrrr");
        table = table_new(alignment);
        table_row(table, TABLE_HEAD);
        table_cell(table, "%s", _("Task"));
        table_cell(table, "%s", _("From"));
        for (size_t i = 0; i < matrix->n_sides; i++)
                table_cell(table, "%c", letter(i));
        table_cell(table, "%s", _("Most - least"));
        table_cell(table, "%s", _("95 % CI"));
        for (size_t i = 0; i < shown; i++) {
                const struct matrix_row *row = &matrix->rows[i];

                table_row(table, row->significant ? TABLE_PLAIN : TABLE_FAINT);
                add_names(table, matrix, row);
                for (size_t j = 0; j < matrix->n_sides; j++)
                        add_value(table, matrix, &row->cells[j]);
                answer_amount(unit, row->difference.value, text);
                if (row->dearest == row->cheapest) /* all are equal */
                        table_cell(table, "%s", text);
                else
                        table_cell(table, "%c - %c: %s", letter(row->dearest), letter(row->cheapest), text);
                table_cell(table, "%s", answer_bounds(unit, row->difference, text));
        }
        table_print(table);
}

static void print_steps(const struct matrix *matrix, size_t shown)
{
        _cleanup_(table_freep) struct table *table = table_new("nnlrrrr");
        const char *unit = matrix->sides[0].unit;
        char text[DIFF_AMOUNT_SIZE];

        table_heads(table, N_("Task"), N_("From"), N_("Step"), N_("Before"), N_("After"), N_("Change"),
                    N_("95 % CI"), NULL);
        for (size_t i = 0; i < shown; i++) {
                const struct matrix_step *step = &matrix->steps[i];
                const struct matrix_row *row = &matrix->rows[step->row];

                table_row(table, TABLE_PLAIN);
                add_names(table, matrix, row);
                table_cell(table, _("%c to %c"), letter(step->before), letter(step->after));
                table_cell(table, "%s", answer_amount(unit, row->cells[step->before].sampled.value, text));
                table_cell(table, "%s", answer_amount(unit, row->cells[step->after].sampled.value, text));
                table_cell(table, "%s%s", step->difference.value > 0 ? "+" : "",
                           answer_amount(unit, step->difference.value, text));
                table_cell(table, "%s", answer_bounds(unit, step->difference, text));
        }
        table_spare(table, "1");
        table_print(table);
}

void answer_matrix_notes(const struct matrix *matrix, bool intervals)
{
        size_t least = SIZE_MAX;

        for (size_t i = 0; i < matrix->n_sides; i++)
                least = MIN(least, matrix->sides[i].contexts.n_runs);
        if (intervals && matrix->n_sides > INTERVALS_MAX)
                table_note("The interval of each value is in --json.");
        if (least < 3)
                table_note("With fewer than three runs a changed program looks like changed conditions; give at least "
                           "three of each.");
        if (matrix->fell_back)
                table_note("These trees have too many pairs for alpha %d: some are matched with alpha %d.",
                           matrix->wish.alpha == ALPHA_BY_DATA ? ALPHA_LEAST : matrix->wish.alpha, matrix->alpha);
        else if (matrix->wish.alpha == ALPHA_BY_DATA && matrix->alpha == matrix->alpha_most)
                table_note("Alpha is %d, by the data.", matrix->alpha);
        else if (matrix->wish.alpha == ALPHA_BY_DATA)
                table_note("Alpha is %d to %d, by the data of each two programs.", matrix->alpha, matrix->alpha_most);
}

void answer_matrix_table(const struct matrix *matrix, bool bisect, const struct diff_limit *limit)
{
        size_t significant = 0, shown;

        print_programs(matrix);
        putchar('\n');
        if (bisect && matrix->n_steps == 0) {
                table_text(TABLE_HEAD, "No task became dearer or cheaper for sure.");
        } else if (bisect) {
                shown = answer_shown(limit, matrix->n_steps, matrix->n_steps);
                print_steps(matrix, shown);
                putchar('\n');
                answer_left_out(matrix->n_steps, matrix->n_steps, shown);
        } else {
                while (significant < matrix->n && matrix->rows[significant].significant)
                        significant++;
                shown = answer_shown(limit, matrix->n, significant);
                print_rows(matrix, shown);
                putchar('\n');
                answer_left_out(matrix->n, significant, shown);
        }
        answer_matrix_notes(matrix, !bisect);
}
