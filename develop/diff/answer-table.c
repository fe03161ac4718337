/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The answer for people. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff.h"
#include "sentences.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

#define SURE_MAX 40   /* most rows of significant tasks, unless the user asks for more */
#define OTHERS_MAX 10 /* most rows of other tasks after these; none if there are more than SURE_MAX significant ones */
#define ADVICE_MAX 10 /* tasks */
#define TEXT_SIZE DIFF_AMOUNT_SIZE

struct scale {
        double factor;
        const char *shown;
};

/* The scale that makes a value of this size short, as "mJ" for nJ. */
static struct scale find_scale(const char *unit, double value)
{
        static const struct {
                const char *unit;
                struct scale scale;
        } scales[] = { { "nJ", { 1e9, "J" } },
                       { "nJ", { 1e6, "mJ" } },
                       { "nJ", { 1e3, "uJ" } },
                       { "ns", { 1e9, "s" } },
                       { "ns", { 1e6, "ms" } },
                       { "ns", { 1e3, "us" } },
                       { "bytes", { 1e9, "GB" } },
                       { "bytes", { 1e6, "MB" } },
                       { "bytes", { 1e3, "kB" } },
                       { "cycles", { 1e9, "Gcycles" } },
                       { "cycles", { 1e6, "Mcycles" } },
                       { "cycles", { 1, "cycles" } },
                       { "instructions", { 1e9, "Ginstr" } },
                       { "instructions", { 1e6, "Minstr" } },
                       { "instructions", { 1, "instr" } } };

        for (size_t i = 0; i < ARRAY_SIZE(scales); i++)
                if (strcmp(scales[i].unit, unit) == 0 &&
                    (scales[i].scale.factor == 1 || fabs(value) >= scales[i].scale.factor))
                        return scales[i].scale;
        return (struct scale){ 1, strcmp(unit, "samples") == 0 || strcmp(unit, "calls") == 0 ? "" : unit };
}

static const char *number(double value, char *buf)
{
        if (fabs(value) >= 1e9)
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

        if (isinf(estimate.high)) {
                snprintf(buf, TEXT_SIZE, "%s", _("unknown"));
                return buf;
        }
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
                table_note(words_counted("%zu more task, and %zu differs for sure: --all shows it.",
                                         "%zu more tasks, %zu of which differ for sure: --all shows them.",
                                         n - shown),
                           n - shown, significant - shown);
        else if (shown < n)
                table_note(words_counted("%zu more task does not differ for sure: --all shows it.",
                                         "%zu more tasks do not differ for sure: --all shows them.",
                                         n - shown),
                           n - shown);
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

static void add_row(struct table *table, const struct comparison *comparison, const struct task *task, bool calls)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        int32_t node = task->a.node >= 0 ? task->a.node : task->b.node;
        char name[FRAME_NAME_MAX], text[TEXT_SIZE];
        const char *unit = comparison->a->unit;

        table_row(table, task->significant ? TABLE_PLAIN : TABLE_FAINT);
        task_name(comparison->labels, side->contexts.shown[node], name, sizeof(name));
        table_cell(table, "%s%s", name, task->match == TASK_POSSIBLE ? " ?" : "");
        table_cell(table, "%s", _(task_where(comparison, task, name, sizeof(name))));
        answer_add_amount(table, unit, &task->a);
        answer_add_amount(table, unit, &task->b);
        table_cell(table, "%s", answer_amount(unit, task->difference.value, text));
        table_cell(table, "%s", answer_bounds(unit, task->difference, text));
        if (calls && knows_calls(task))
                table_cell(table, "%.0f / %.0f", task->a.calls, task->b.calls);
        else if (calls)
                table_cell(table, "%s", "");
}

static void print_sentence(const struct comparison *comparison, int alpha, size_t shown, enum sentence which)
{
        char buf[SENTENCE_SIZE];
        const char *sentence = sentences_make(comparison, alpha, shown, which, buf);

        if (sentence)
                table_text(which == SENTENCE_SIDES ? TABLE_HEAD :
                           which < SENTENCE_NOTES  ? TABLE_PLAIN :
                                                     TABLE_FAINT,
                           "%s", sentence);
}

/* Prints facts that tell whether the two programs can be compared at all. */
static void print_comparable(const struct comparison *comparison)
{
        _cleanup_(table_freep) struct table *table = table_new("lr");
        char text[SENTENCE_SIZE];

        for (size_t i = 0; i < SENTENCE_FACTS; i++) {
                table_row(table, TABLE_FAINT);
                table_cell(table, "%s", sentences_fact(comparison, i, text));
                table_cell(table, "%s", text);
        }
        table_print(table);
}

static void print_advice(const struct comparison *comparison, const struct task *task)
{
        char buf[SENTENCE_SIZE];
        const char *advice = sentences_advice(comparison, task, buf);

        if (advice)
                table_text(TABLE_PLAIN, "%s", advice);
}

static void print_tasks(const struct comparison *comparison, size_t shown)
{
        _cleanup_(table_freep) struct table *table = NULL;
        bool calls = false;

        for (size_t i = 0; i < shown; i++)
                calls |= knows_calls(&comparison->tasks[i]);
        table = table_new(calls ? "nnrrrrr" : "nnrrrr");
        table_heads(table, N_("Task"), N_("From"), "A", "B", "A - B", N_("95 % CI"), calls ? N_("Calls") : NULL, NULL);
        for (size_t i = 0; i < shown; i++)
                add_row(table, comparison, &comparison->tasks[i], calls);
        table_spare(table, calls ? "61" : "1");
        table_print(table);
}

void answer_table(const struct comparison *comparison, int alpha, const struct diff_limit *limit)
{
        size_t significant = sentences_count_sure(comparison), shown = answer_shown(limit, comparison->n, significant);

        for (int i = 0; i < SENTENCE_NOTES; i++)
                print_sentence(comparison, alpha, shown, (enum sentence)i);
        putchar('\n');
        print_tasks(comparison, shown);
        putchar('\n');
        for (size_t i = 0; i < MIN(shown, significant) && i < ADVICE_MAX; i++)
                print_advice(comparison, &comparison->tasks[i]);
        answer_left_out(comparison->n, significant, shown);
        for (int i = SENTENCE_NOTES; i < SENTENCE_COUNT; i++)
                print_sentence(comparison, alpha, shown, (enum sentence)i);
        putchar('\n');
        print_comparable(comparison);
}
