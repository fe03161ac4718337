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

#define SURE_MAX 40   /* rows, unless the user asks for more */
#define OTHERS_MAX 10 /* that are not significant */
#define ADVICE_MAX 10 /* tasks */
#define TEXT_SIZE DIFF_AMOUNT_SIZE

struct scale {
        double factor;
        const char *shown;
};

/* That in which a value of this size is short. */
static struct scale find_scale(const char *unit, double value)
{
        static const struct {
                const char *unit;
                struct scale scale;
        } scales[] = { { "nJ", { 1e9, "J" } },   { "nJ", { 1e6, "mJ" } }, { "nJ", { 1e3, "uJ" } },
                       { "ns", { 1e9, "s" } },   { "ns", { 1e6, "ms" } }, { "ns", { 1e3, "us" } },
                       { "bytes", { 1e9, "GB" } }, { "bytes", { 1e6, "MB" } }, { "bytes", { 1e3, "kB" } } };

        for (size_t i = 0; i < ARRAY_SIZE(scales); i++)
                if (strcmp(scales[i].unit, unit) == 0 && fabs(value) >= scales[i].scale.factor)
                        return scales[i].scale;
        return (struct scale){ 1, strcmp(unit, "samples") == 0 || strcmp(unit, "calls") == 0 ? "" : unit };
}

static const char *number(double value, char *buf)
{
        if (fabs(value) >= 1e6)
                snprintf(buf, TEXT_SIZE, "%.3g", value);
        else if (fabs(value) >= 99.95)
                snprintf(buf, TEXT_SIZE, "%.0f", value);
        else
                snprintf(buf, TEXT_SIZE, "%.3g", value == 0 ? 0 : value);
        return buf;
}

const char *answer_amount(const char *unit, double value, char *buf)
{
        const struct scale scale = find_scale(unit, value);
        char text[TEXT_SIZE];

        snprintf(buf, TEXT_SIZE, "%.40s%s%s", number(value / scale.factor, text), *scale.shown ? " " : "", scale.shown);
        return buf;
}

const char *answer_bounds(const char *unit, struct estimate estimate, char *buf)
{
        const struct scale scale = find_scale(unit, MAX(fabs(estimate.low), fabs(estimate.high)));
        char low[TEXT_SIZE], high[TEXT_SIZE];

        snprintf(buf, TEXT_SIZE, "%.20s .. %.20s%s%s", number(estimate.low / scale.factor, low),
                 number(estimate.high / scale.factor, high), *scale.shown ? " " : "", scale.shown);
        return buf;
}

size_t answer_shown(const struct diff_limit *limit, size_t n, size_t significant)
{
        size_t rows = significant > SURE_MAX ? SURE_MAX : significant + OTHERS_MAX;

        if (limit->given)
                rows = limit->rows;
        return MIN(n, rows);
}

void answer_left_out(size_t n, size_t significant, size_t shown)
{
        if (shown < significant)
                table_note("%zu more tasks, %zu of which differ for sure: --all shows them.", n - shown, significant - shown);
        else if (shown < n)
                table_note(words_counted("%zu more task does not differ for sure: --all shows it.",
                                         "%zu more tasks do not differ for sure: --all shows them.", n - shown), n - shown);
}

void answer_add_amount(struct table *table, const char *unit, const struct task_side *side)
{
        char text[TEXT_SIZE];

        table_cell(table, "%s", side->node < 0 ? _("not seen") : answer_amount(unit, side->sampled.value, text));
}

static bool knows_calls(const struct task *task)
{
        return !isnan(task->a.calls) && !isnan(task->b.calls);
}

static void add_rank(struct table *table, const struct task *task)
{
        int32_t rank = task->a.sampled.value >= task->b.sampled.value ? task->plain_rank_a : task->plain_rank_b;

        if (rank > 0)
                table_cell(table, "%d", rank);
        else
                table_cell(table, "%s", "");
}

static void add_row(struct table *table, const struct comparison *comparison, const struct task *task, bool calls)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        int32_t node = task->a.node >= 0 ? task->a.node : task->b.node;
        char name[FRAME_NAME_MAX], text[TEXT_SIZE];
        const char *unit = comparison->a->unit;

        table_row(table, task->significant ? TABLE_PLAIN : TABLE_FAINT);
        task_name(comparison->labels, side->contexts.label[node], name, sizeof(name));
        table_cell(table, "%s%s", name, task->match == TASK_POSSIBLE ? " ?" : "");
        table_cell(table, "%s", task_from(side, comparison->labels, node, name, sizeof(name)));
        answer_add_amount(table, unit, &task->a);
        answer_add_amount(table, unit, &task->b);
        table_cell(table, "%s", answer_amount(unit, task->difference.value, text));
        table_cell(table, "%s", answer_bounds(unit, task->difference, text));
        add_rank(table, task);
        if (calls && knows_calls(task))
                table_cell(table, "%.0f / %.0f", task->a.calls, task->b.calls);
        else if (calls)
                table_cell(table, "%s", "");
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
        char a[TEXT_SIZE], b[TEXT_SIZE];
        double sum = 0, all = comparable->total_a - comparable->total_b;

        for (size_t i = 0; i < significant; i++)
                sum += comparison->tasks[i].difference.value;
        table_text(TABLE_HEAD, strcmp(comparison->a->unit, "samples") == 0 ? N_("A %s, B %s: %s and %s samples.")
                                                                           : N_("A %s, B %s: %s and %s."),
                   comparison->a->name, comparison->b->name, answer_amount(comparison->a->unit, comparable->total_a, a),
                   answer_amount(comparison->a->unit, comparable->total_b, b));
        if (significant > 0 && all != 0)
                table_text(TABLE_PLAIN, words_counted("%zu task differs for sure, and makes %.0f %% of the difference.",
                                                      "%zu tasks differ for sure, and make %.0f %% of the difference.", significant),
                           significant, 100 * sum / all);
        else
                table_text(TABLE_PLAIN, "No task differs for sure.");
}

/* Whether they can be compared at all. */
static void print_comparable(const struct comparison *comparison)
{
        const struct comparable *comparable = &comparison->comparable;
        _cleanup_(table_freep) struct table *table = table_new("lr");
        char text[TEXT_SIZE];

        table_row(table, TABLE_FAINT);
        table_cell(table, "%s", _("Cost of frameworks in functions that both call"));
        table_cell(table, "%.0f %%", 100 * comparable->energy_common);
        table_row(table, TABLE_FAINT);
        table_cell(table, "%s", _("Functions of frameworks that both call"));
        table_cell(table, "%.0f %%", 100 * comparable->functions_common);
        table_row(table, TABLE_FAINT);
        table_cell(table, "%s", _("Stacks without a frame of the app, in A and B"));
        table_cell(table, "%.1f %%, %.1f %%", 100 * comparable->without_app_a, 100 * comparable->without_app_b);
        table_row(table, TABLE_FAINT);
        table_cell(table, "%s", _("Smallest difference that shows, of a task of 1 %"));
        table_cell(table, "%s", answer_amount(comparison->a->unit, comparable->smallest, text));
        table_print(table);
}

/* What to do about a task whose calls were counted. */
static void print_advice(const struct comparison *comparison, const struct task *task)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        double by_calls = task->by_calls / task->difference.value, calls = task->a.calls / task->b.calls;
        double price = task->a.sampled.value / task->a.calls / (task->b.sampled.value / task->b.calls);
        char name[FRAME_NAME_MAX];

        task_name(comparison->labels, side->contexts.label[task->a.node >= 0 ? task->a.node : task->b.node], name, sizeof(name));
        if (by_calls >= 0.67)
                table_text(TABLE_PLAIN, "%s: by the number of calls (%.0f and %.0f). %s should call it more rarely.", name, task->a.calls,
                           task->b.calls, calls > 1 ? "A" : "B");
        else if (by_calls <= 0.33)
                table_text(TABLE_PLAIN, "%s: by what a call costs, %.3g times as much in %s as in %s (%.0f and %.0f calls). What it is "
                           "called with differs.", name, price > 1 ? price : 1 / price, price > 1 ? "A" : "B", price > 1 ? "B" : "A",
                           task->a.calls, task->b.calls);
        else
                table_text(TABLE_PLAIN, "%s: both by the number of calls (%.0f and %.0f) and by what a call costs.", name, task->a.calls,
                           task->b.calls);
}

static void print_notes(const struct comparison *comparison, int alpha, size_t shown)
{
        const struct comparable *comparable = &comparison->comparable;
        bool not_seen = false, possible = false;

        for (size_t i = 0; i < shown; i++) {
                not_seen |= comparison->tasks[i].match == TASK_ONLY_A || comparison->tasks[i].match == TASK_ONLY_B;
                possible |= comparison->tasks[i].match == TASK_POSSIBLE;
        }
        if (not_seen)
                table_note("Not seen: the program has no such task, or fewer than 4 samples of it.");
        if (possible)
                table_note("With ?: the task of B has another name, and may be another one.");
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

static void print_tasks(const struct comparison *comparison, size_t shown)
{
        _cleanup_(table_freep) struct table *table = NULL;
        bool calls = false;

        for (size_t i = 0; i < shown; i++)
                calls |= knows_calls(&comparison->tasks[i]);
        table = table_new(calls ? "nnrrrrrr" : "nnrrrrr");
        table_heads(table, N_("Task"), N_("From"), "A", "B", "A - B", N_("95 % CI"), N_("Plain rank"), calls ? N_("Calls") : NULL, NULL);
        for (size_t i = 0; i < shown; i++)
                add_row(table, comparison, &comparison->tasks[i], calls);
        table_spare(table, calls ? "761" : "61");
        table_print(table);
}

void answer_table(const struct comparison *comparison, int alpha, const struct diff_limit *limit)
{
        size_t significant = count_significant(comparison), shown = answer_shown(limit, comparison->n, significant);

        print_head(comparison, significant);
        putchar('\n');
        print_comparable(comparison);
        putchar('\n');
        print_tasks(comparison, shown);
        putchar('\n');
        for (size_t i = 0; i < MIN(shown, significant) && i < ADVICE_MAX; i++)
                if (!isnan(comparison->tasks[i].by_calls))
                        print_advice(comparison, &comparison->tasks[i]);
        answer_left_out(comparison->n, significant, shown);
        print_notes(comparison, alpha, shown);
}
