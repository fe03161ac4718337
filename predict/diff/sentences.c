/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "util/util.h"
#include "util/words.h"

#define OWN_MUCH 0.2 /* share of a program that no task explains */

size_t sentences_count_sure(const struct comparison *comparison)
{
        size_t n = 0;

        while (n < comparison->n && comparison->tasks[n].significant)
                n++;
        return n;
}

/* With --weight calls: no stacks, and nothing that a call could cost. */
static bool is_calls(const struct comparison *comparison)
{
        return strcmp(comparison->a->unit, "calls") == 0;
}

static const char *make_sides(const struct comparison *comparison, char *buf)
{
        const char *unit = comparison->a->unit;
        char a[DIFF_AMOUNT_SIZE], b[DIFF_AMOUNT_SIZE];

        snprintf(buf, SENTENCE_SIZE,
                 strcmp(unit, "samples") == 0 ? _("A %s, B %s: %s and %s samples.") : _("A %s, B %s: %s and %s."),
                 comparison->a->name, comparison->b->name, answer_amount(unit, comparison->comparable.total_a, a),
                 answer_amount(unit, comparison->comparable.total_b, b));
        return buf;
}

static bool is_below(const struct tree *tree, int32_t node, const bool *marked)
{
        for (int32_t at = node < 0 ? -1 : tree->parent[node]; at >= 0; at = tree->parent[at])
                if (marked[at])
                        return true;
        return false;
}

/* What the first @n tasks differ by, without those that are below another of them; NAN: no memory. */
static double sum_differences(const struct comparison *comparison, size_t n)
{
        const struct tree *a = &comparison->a->contexts.tree, *b = &comparison->b->contexts.tree;
        _cleanup_free_ bool *in_a = calloc((size_t)a->n, sizeof(*in_a)), *in_b = calloc((size_t)b->n, sizeof(*in_b));
        double sum = 0;

        if (!in_a || !in_b)
                return NAN;
        for (size_t i = 0; i < n; i++) {
                if (comparison->tasks[i].a.node >= 0)
                        in_a[comparison->tasks[i].a.node] = true;
                if (comparison->tasks[i].b.node >= 0)
                        in_b[comparison->tasks[i].b.node] = true;
        }
        for (size_t i = 0; i < n; i++)
                if (!is_below(a, comparison->tasks[i].a.node, in_a) && !is_below(b, comparison->tasks[i].b.node, in_b))
                        sum += comparison->tasks[i].difference.value;
        return sum;
}

static const char *make_sure(const struct comparison *comparison, char *buf)
{
        double sum, all = comparison->comparable.total_a - comparison->comparable.total_b;
        size_t sure = sentences_count_sure(comparison);

        sum = sum_differences(comparison, sure);
        if (sure == 0)
                return _("No task differs for sure.");
        if (!(sum / all >= 0) || sum / all > 2) { /* others differ the other way */
                snprintf(buf, SENTENCE_SIZE, words_counted("%zu task differs for sure.", "%zu tasks differ for sure.", sure), sure);
                return buf;
        }
        snprintf(buf, SENTENCE_SIZE,
                 words_counted("%zu task differs for sure, and makes %.0f %% of the difference.",
                               "%zu tasks differ for sure, and make %.0f %% of the difference.", sure),
                 sure, 100 * sum / all);
        return buf;
}

static bool has_match(const struct comparison *comparison, size_t shown, enum task_match one, enum task_match other)
{
        for (size_t i = 0; i < shown; i++)
                if (comparison->tasks[i].match == one || comparison->tasks[i].match == other)
                        return true;
        return false;
}

static const char *note_of_runs(const struct comparison *comparison)
{
        size_t least = MIN(comparison->a->contexts.n_runs, comparison->b->contexts.n_runs);

        if (least == 1)
                return _("One run a side cannot tell a changed program from a changed day; give at least three runs of each.");
        if (least < 3)
                return _("Two runs a side do not show how much runs differ by chance; give at least three of each.");
        return NULL;
}

static const char *note_of_cut(const struct comparison *comparison, char *buf)
{
        if (is_calls(comparison))
                return NULL;
        if (!(comparison->comparable.without_app_a > 0.1) && !(comparison->comparable.without_app_b > 0.1))
                return NULL;
        snprintf(buf, SENTENCE_SIZE,
                 _("More than 10 %% of the stacks have no frame of the app: they are cut, or --app-dso is missing."));
        return buf;
}

static const char *note_of_own(const struct comparison *comparison, char *buf)
{
        const struct comparable *comparable = &comparison->comparable;

        if (is_calls(comparison) || (!(comparable->own_a > OWN_MUCH) && !(comparable->own_b > OWN_MUCH)))
                return NULL;
        snprintf(buf, SENTENCE_SIZE, _("%.0f %% of A and %.0f %% of B are in their own functions, outside of any call of a "
                 "framework: --own makes tasks of these."), 100 * comparable->own_a, 100 * comparable->own_b);
        return buf;
}

static const char *note_of_pairs(const struct comparison *comparison, int alpha, char *buf)
{
        if (!comparison->fell_back)
                return NULL;
        snprintf(buf, SENTENCE_SIZE,
                 _("These trees have too many pairs for alpha %d: matched with alpha %d."),
                 alpha, comparison->match.alpha);
        return buf;
}

const char *sentences_make(const struct comparison *comparison, int alpha, size_t shown, enum sentence which, char *buf)
{
        switch (which) {
        case SENTENCE_SIDES:
                return make_sides(comparison, buf);
        case SENTENCE_SURE:
                return make_sure(comparison, buf);
        case SENTENCE_NOT_SEEN:
                return has_match(comparison, shown, TASK_ONLY_A, TASK_ONLY_B) ?
                               _("Not seen: the program has no such task, or fewer than 4 samples of it.") : NULL;
        case SENTENCE_POSSIBLE:
                return has_match(comparison, shown, TASK_POSSIBLE, TASK_POSSIBLE) ?
                               _("With ?: the task of B has another name, and may be another one.") : NULL;
        case SENTENCE_RUNS:
                return note_of_runs(comparison);
        case SENTENCE_CUT:
                return note_of_cut(comparison, buf);
        case SENTENCE_OWN:
                return note_of_own(comparison, buf);
        case SENTENCE_FELL_BACK:
                return note_of_pairs(comparison, alpha, buf);
        default:
                return NULL;
        }
}

static void print_share(double share, char *buf)
{
        if (isnan(share))
                snprintf(buf, SENTENCE_SIZE, "-");
        else
                snprintf(buf, SENTENCE_SIZE, "%.0f %%", 100 * share);
}

const char *sentences_fact(const struct comparison *comparison, size_t which, char *buf)
{
        const struct comparable *comparable = &comparison->comparable;
        char text[DIFF_AMOUNT_SIZE];

        switch (which) {
        case 0:
                print_share(comparable->energy_common, buf);
                return _("Cost of frameworks in functions that both call");
        case 1:
                print_share(comparable->functions_common, buf);
                return _("Functions of frameworks that both call");
        case 2:
                if (is_calls(comparison))
                        snprintf(buf, SENTENCE_SIZE, "-");
                else
                        snprintf(buf, SENTENCE_SIZE, "%.1f %%, %.1f %%", 100 * comparable->without_app_a,
                                 100 * comparable->without_app_b);
                return _("Stacks without a frame of the app, in A and B");
        case 3:
                if (is_calls(comparison))
                        snprintf(buf, SENTENCE_SIZE, "-");
                else
                        snprintf(buf, SENTENCE_SIZE, "%.1f %%, %.1f %%", 100 * comparable->own_a, 100 * comparable->own_b);
                return _("Own functions of the app, outside of tasks, in A and B");
        default:
                snprintf(buf, SENTENCE_SIZE, "%s", answer_amount(comparison->a->unit, comparable->smallest, text));
                return _("Smallest difference that shows, of a task of 1 %");
        }
}

const char *sentences_advice(const struct comparison *comparison, const struct task *task, char *buf)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        double by_calls = task->by_calls / task->difference.value, calls = task->a.calls / task->b.calls;
        double price = task->a.sampled.value / task->a.calls / (task->b.sampled.value / task->b.calls);
        char name[FRAME_NAME_MAX];

        if (isnan(task->a.calls) || isnan(task->b.calls) || is_calls(comparison))
                return NULL;
        task_name(comparison->labels, side->contexts.label[task->a.node >= 0 ? task->a.node : task->b.node], name, sizeof(name));
        if (isnan(by_calls))
                snprintf(buf, SENTENCE_SIZE, _("%s: called %.0f times in A and %.0f times in B."), name, task->a.calls, task->b.calls);
        else if (by_calls >= 0.67)
                snprintf(buf, SENTENCE_SIZE, _("%s: by the number of calls (%.0f and %.0f). %s should call it more rarely."), name,
                         task->a.calls, task->b.calls, calls > 1 ? "A" : "B");
        else if (by_calls <= 0.33)
                snprintf(buf, SENTENCE_SIZE,
                         _("%s: by what a call costs, %.3g times as much in %s as in %s (%.0f and %.0f calls). What it is "
                           "called with differs."), name, price > 1 ? price : 1 / price, price > 1 ? "A" : "B",
                         price > 1 ? "B" : "A", task->a.calls, task->b.calls);
        else
                snprintf(buf, SENTENCE_SIZE, _("%s: both by the number of calls (%.0f and %.0f) and by what a call costs."), name,
                         task->a.calls, task->b.calls);
        return buf;
}
