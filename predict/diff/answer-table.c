/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The answer for people. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

#define OTHERS_MAX 10 /* rows that are not significant */
#define TEXT_SIZE 64

/* A value with its unit, short: "12.4 J", "350", "3.1 ms". */
static const char *amount(const char *unit, double value, char *buf)
{
        static const struct {
                const char *unit;
                double factor;
                const char *shown;
        } scales[] = { { "nJ", 1e9, "J" },   { "nJ", 1e6, "mJ" },  { "nJ", 1e3, "uJ" },    { "ns", 1e9, "s" },
                       { "ns", 1e6, "ms" },  { "ns", 1e3, "us" } };

        for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
                if (strcmp(scales[i].unit, unit) != 0 || fabs(value) < scales[i].factor)
                        continue;
                snprintf(buf, TEXT_SIZE, "%.3g %s", value / scales[i].factor, scales[i].shown);
                return buf;
        }
        if (fabs(value) < 1e5)
                snprintf(buf, TEXT_SIZE, "%.4g%s%s", value, strcmp(unit, "samples") == 0 ? "" : " ",
                         strcmp(unit, "samples") == 0 ? "" : unit);
        else
                snprintf(buf, TEXT_SIZE, "%.0f", value);
        return buf;
}

static void add_amount(struct table *table, const char *unit, const struct task_side *side)
{
        char text[TEXT_SIZE];

        if (side->node < 0)
                table_cell(table, "-");
        else
                table_cell(table, "%s", amount(unit, side->sampled.value, text));
}

static const char *remark(const struct task *task, char *buf, size_t size)
{
        static const char *const words[] = { "", "", "", N_("perhaps another task") };

        if (task->match == TASK_ONLY_A)
                return _("not seen in B (fewer than 4 samples)");
        if (task->match == TASK_ONLY_B)
                return _("not seen in A (fewer than 4 samples)");
        if (task->match == TASK_BOTH && task->significant && !isnan(task->by_calls)) {
                snprintf(buf, size, _("%.0f %% by the number of calls, %.0f %% by the cost of a call"),
                         100 * task->by_calls / task->difference.value, 100 * task->by_price / task->difference.value);
                return buf;
        }
        return *words[task->match] ? _(words[task->match]) : "";
}

static void add_calls(struct table *table, const struct task *task)
{
        if (isnan(task->a.calls) && isnan(task->b.calls))
                table_cell(table, "%s", "");
        else
                table_cell(table, "%.0f / %.0f", task->a.calls, task->b.calls);
}

static void add_row(struct table *table, const struct comparison *comparison, const struct task *task)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        int32_t node = task->a.node >= 0 ? task->a.node : task->b.node, rank = MAX(task->plain_rank_a, task->plain_rank_b);
        char name[FRAME_NAME_MAX], text[3][TEXT_SIZE], words[128];
        const char *unit = comparison->a->unit;

        table_row(table, task->significant ? TABLE_PLAIN : TABLE_FAINT);
        table_cell(table, "%s", task_name(comparison->labels, side->contexts.label[node], name, sizeof(name)));
        table_cell(table, "%s", task_from(side, comparison->labels, node, name, sizeof(name)));
        add_amount(table, unit, &task->a);
        add_amount(table, unit, &task->b);
        table_cell(table, "%s", amount(unit, task->difference.value, text[0]));
        table_cell(table, "%s .. %s", amount(unit, task->difference.low, text[1]), amount(unit, task->difference.high, text[2]));
        add_calls(table, task);
        if (rank > 0)
                table_cell(table, "%d", task->a.sampled.value >= task->b.sampled.value ? task->plain_rank_a : task->plain_rank_b);
        else
                table_cell(table, "%s", "");
        table_cell(table, "%s", remark(task, words, sizeof(words)));
}

static size_t count_significant(const struct comparison *comparison)
{
        size_t n = 0;

        while (n < comparison->n && comparison->tasks[n].significant)
                n++;
        return n;
}

static void print_head(const struct comparison *comparison, size_t significant)
{
        const struct comparable *comparable = &comparison->comparable;
        char a[TEXT_SIZE], b[TEXT_SIZE], smallest[TEXT_SIZE];
        double sum = 0, all = comparable->total_a - comparable->total_b;

        for (size_t i = 0; i < significant; i++)
                sum += comparison->tasks[i].difference.value;
        table_text(TABLE_HEAD, strcmp(comparison->a->unit, "samples") == 0 ? N_("A %s, B %s: %s and %s samples.")
                                                                           : N_("A %s, B %s: %s and %s."),
                   comparison->a->name, comparison->b->name, amount(comparison->a->unit, comparable->total_a, a),
                   amount(comparison->b->unit, comparable->total_b, b));
        if (significant > 0 && all != 0)
                table_text(TABLE_PLAIN, words_counted("%zu task differs for sure, and makes %.0f %% of the difference.",
                                                      "%zu tasks differ for sure, and make %.0f %% of the difference.", significant),
                           significant, 100 * sum / all);
        else
                table_text(TABLE_PLAIN, "No task differs for sure.");
        table_text(TABLE_PLAIN, "Of what frameworks cost, %.0f %% are in functions that both use, and %.0f %% of these functions are in "
                   "both. Without a frame of the app: %.1f %% of A, %.1f %% of B. Smallest visible difference, of a task that costs 1 %%: %s.",
                   100 * comparable->energy_common, 100 * comparable->functions_common, 100 * comparable->without_app_a,
                   100 * comparable->without_app_b, amount(comparison->a->unit, comparable->smallest, smallest));
}

static void print_notes(const struct comparison *comparison, int alpha, size_t left_out)
{
        const struct comparable *comparable = &comparison->comparable;

        putchar('\n');
        if (left_out)
                table_note("%zu more tasks, none of which differs for sure, are in --json.", left_out);
        if (comparison->a->contexts.n_runs == 1 || comparison->b->contexts.n_runs == 1)
                table_note("One run a side cannot tell a changed program from a changed day; give at least three runs of each.");
        else if (comparison->a->contexts.n_runs < 3 || comparison->b->contexts.n_runs < 3)
                table_note("Two runs a side do not show how much runs differ by chance; give at least three of each.");
        if (comparable->without_app_a > 0.1 || comparable->without_app_b > 0.1)
                table_note("More than 10 %% of the stacks have no frame of the app: they are cut, or --app-dso is missing.");
        if (comparison->fell_back)
                table_note("These trees have too many pairs for alpha %d: matched with alpha %d, and only by functions of the same name.",
                           alpha, comparison->match.alpha);
}

void answer_table(const struct comparison *comparison, int alpha)
{
        size_t significant = count_significant(comparison), shown = MIN(comparison->n, significant + OTHERS_MAX);
        _cleanup_(table_freep) struct table *table = table_new("nnrrrrrrl");

        print_head(comparison, significant);
        putchar('\n');
        table_heads(table, N_("Task"), N_("From"), "A", "B", "A - B", N_("95 % CI"), N_("Calls"), N_("Plain rank"), "", NULL);
        for (size_t i = 0; i < shown; i++)
                add_row(table, comparison, &comparison->tasks[i]);
        table_spare(table, "761");
        table_print(table);
        print_notes(comparison, alpha, comparison->n - shown);
}
