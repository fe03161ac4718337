/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "record/same-work.h"
#include "util/util.h"
#include "util/words.h"
#include "worth.h"

#define ALPHA_TASKS 200 /* names without a partner are looked for in so many tasks, the first ones */
#define WORTH_TASKS 3
#define OWN_MUCH 0.2 /* share of a program that no task explains */

size_t sentences_count_sure(const struct comparison *comparison)
{
        size_t n = 0;

        while (n < comparison->n && comparison->tasks[n].significant)
                n++;
        return n;
}

/* Are these calls (--weight calls)? They have no stacks, and a call has no cost. */
static bool is_calls(const struct comparison *comparison)
{
        return strcmp(comparison->a->unit, "calls") == 0;
}

/* "380 ms", "130 samples" */
static const char *amount(const struct comparison *comparison, double value, char *buf)
{
        const char *unit = comparison->a->unit;
        bool number = strcmp(unit, "samples") == 0 || strcmp(unit, "calls") == 0;
        char text[DIFF_AMOUNT_SIZE];

        snprintf(buf, DIFF_AMOUNT_SIZE, "%.40s%s%s", answer_amount(unit, value, text), number ? " " : "",
                 number ? _(unit) : "");
        return buf;
}

/* Which program needs more, and where: the first thing to know. */
static const char *make_sides(const struct comparison *comparison, char *buf)
{
        const struct comparable *comparable = &comparison->comparable;
        const struct task *total = &comparison->total;
        bool less = total->difference.value < 0;
        double sign = less ? -1 : 1, own = sign * (comparable->in_own_a - comparable->in_own_b),
               all = sign * total->difference.value;
        const char *more = less ? comparison->b->name : comparison->a->name,
                   *other = less ? comparison->a->name : comparison->b->name;
        char a[DIFF_AMOUNT_SIZE], b[DIFF_AMOUNT_SIZE], by[DIFF_AMOUNT_SIZE], tasks[DIFF_AMOUNT_SIZE],
                self[DIFF_AMOUNT_SIZE];
        int length;

        amount(comparison, less ? comparable->total_b : comparable->total_a, a);
        amount(comparison, less ? comparable->total_a : comparable->total_b, b);
        if (total->difference.value == 0) {
                snprintf(buf, SENTENCE_SIZE, _("A (%s) and B (%s) need the same: %s."), comparison->a->name,
                         comparison->b->name, a);
                return buf;
        }
        length = snprintf(buf, SENTENCE_SIZE,
                          total->significant ? _("%s (%s) needs %s more than %s (%s) for sure: %s and %s.")
                                             : _("%s (%s) needs %s more than %s (%s), which may be chance: %s and "
                                                 "%s."),
                          less ? "B" : "A", more, amount(comparison, all, by), less ? "A" : "B", other, a, b);
        if (!is_calls(comparison) && length >= 0 && length < SENTENCE_SIZE)
                snprintf(buf + length, SENTENCE_SIZE - (size_t)length,
                         _(" %s of that are in tasks, %s in its own functions."),
                         amount(comparison, all - own, tasks), amount(comparison, own, self));
        return buf;
}

/* More frames or files may be the waste that is looked for, and the tasks then cost more for that reason alone. */
static const char *make_work(const struct comparison *comparison, char *buf)
{
        const struct side *a = comparison->a, *b = comparison->b;
        char reason[SENTENCE_SIZE / 2];

        if (same_work_check(&a->work, a->name, &b->work, b->name, reason, sizeof(reason)) != MORE_WORK)
                return NULL;
        snprintf(buf, SENTENCE_SIZE, _("They did not do the same, so look at this first: %s."), reason);
        return buf;
}

static const char *make_sure(const struct comparison *comparison, char *buf)
{
        double sum = comparison->comparable.sure, all = comparison->comparable.total_a - comparison->comparable.total_b;
        size_t sure = sentences_count_sure(comparison);

        if (sure == 0)
                return _("No task differs for sure.");
        if (!(sum / all >= 0) || sum / all > 1.1) { /* others differ the other way */
                snprintf(buf, SENTENCE_SIZE, words_counted("%zu task differs for sure.",
                                                           "%zu tasks differ for sure.", sure), sure);
                return buf;
        }
        snprintf(buf, SENTENCE_SIZE,
                 words_counted("%zu task differs for sure, and makes %.0f %% of the difference.",
                               "%zu tasks differ for sure, and make %.0f %% of the difference.", sure),
                 sure, 100 * sum / all);
        return buf;
}

/* Worth of the whole difference and of the dearest tasks that differ for sure. */
static const char *make_worth(const struct comparison *comparison, char *buf)
{
        const struct worth *worth = comparison->worth;
        struct estimate minutes;
        size_t shown;
        int length;

        if (!worth)
                return NULL;
        minutes = worth_minutes(worth, comparison->total.difference);
        length = snprintf(buf, SENTENCE_SIZE,
                          _("On this device, as %s was used in the last %.1f days, the difference is worth %.3g min "
                            "(%.3g .. %.3g) of battery a day."),
                          worth->use.app, worth->use.days, minutes.value, minutes.low, minutes.high);
        shown = MIN(sentences_count_sure(comparison), (size_t)WORTH_TASKS);
        for (size_t i = 0; i < shown && length < SENTENCE_SIZE; i++) {
                const struct task *task = &comparison->tasks[i];
                const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
                char name[FRAME_NAME_MAX];

                task_name(comparison->labels, side->contexts.shown[task->a.node >= 0 ? task->a.node : task->b.node],
                          name, sizeof(name));
                minutes = worth_minutes(worth, task->difference);
                length += snprintf(buf + length, SENTENCE_SIZE - (size_t)length, _(" %.300s: %.3g min."), name,
                                   minutes.value);
        }
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
                return _("With one run a side a changed program looks like changed conditions; give at least three "
                         "runs of each.");
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
        snprintf(buf, SENTENCE_SIZE,
                 _("%.0f %% of A and %.0f %% of B are in their own functions, outside of any call of a "
                   "framework: --own makes tasks of these."),
                 100 * comparable->own_a, 100 * comparable->own_b);
        return buf;
}

/* How interpreters are started so that they name what they run. */
static const struct {
        const char *program, *start;
} interpreters[] = {
        { "python", "Python 3.11 or later, without -I, -E and -S" },
        { "node", "node --perf-basic-prof --interpreted-frames-native-stack" },
        { "java", "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
        { "dotnet", "DOTNET_PerfMapEnabled=1 dotnet" },
        { "ruby", "ruby --yjit --yjit-perf" },
};

static const char *note_of_unnamed(const struct comparison *comparison, size_t shown, char *buf)
{
        char name[FRAME_NAME_MAX], program[128];

        for (size_t i = 0; i < shown; i++) {
                const struct task *task = &comparison->tasks[i];
                const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
                const char *file;

                task_name(comparison->labels,
                          side->contexts.shown[task->a.node >= 0 ? task->a.node : task->b.node], name,
                          sizeof(name));
                if (strncmp(name, "[unknown]", strlen("[unknown]")) != 0)
                        continue;
                file = strchr(name, '@');
                snprintf(program, sizeof(program), "%s",
                         file                     ? file + 1
                         : side->contexts.program ? side->contexts.program
                                                  : "");
                for (size_t j = 0; !side_has_jit(side) && j < ARRAY_SIZE(interpreters); j++)
                        if (strncmp(side->contexts.program ? side->contexts.program : "", interpreters[j].program,
                                    strlen(interpreters[j].program)) == 0) {
                                snprintf(buf, SENTENCE_SIZE,
                                         _("[unknown]: functions without a name. Start the program as %s, and "
                                           "record it again."),
                                         interpreters[j].start);
                                return buf;
                        }
                snprintf(buf, SENTENCE_SIZE,
                         _("[unknown]: functions without a name. Install the debug symbols of %s (on Debian its "
                           "package with -dbgsym), or build it with -g."),
                         program);
                return buf;
        }
        return NULL;
}

/* A note on how the data chose alpha, or that a task of A and one of B have the same name and no partner. */
static const char *note_of_alpha(const struct comparison *comparison, size_t shown, char *buf)
{
        const struct contexts *a = &comparison->a->contexts, *b = &comparison->b->contexts;
        int alpha = comparison->match.alpha;

        if (comparison->chosen && !comparison->fell_back) {
                if (comparison_is_apart(comparison))
                        snprintf(buf, SENTENCE_SIZE,
                                 words_counted("Alpha is %d, by the data: up to %d, %zu of %zu tasks of equal names "
                                               "is left unmatched on both sides: try --alpha %d.",
                                               "Alpha is %d, by the data: up to %d, %zu of %zu tasks of equal names "
                                               "are left unmatched on both sides: try --alpha %d.",
                                               comparison->apart),
                                 alpha, ALPHA_MOST, comparison->apart, comparison->equal, MATCH_ALPHA_MAX);
                else
                        snprintf(buf, SENTENCE_SIZE,
                                 _("Alpha is %d, by the data: the smallest from %d up at which few tasks of equal "
                                   "names are left apart."), alpha, ALPHA_LEAST);
                return buf;
        }
        shown = MIN(shown, (size_t)ALPHA_TASKS);
        if (comparison->fell_back || alpha >= MATCH_ALPHA_MAX)
                return NULL;
        for (size_t i = 0; i < shown; i++)
                for (size_t j = 0; comparison->tasks[i].match == TASK_ONLY_A && j < shown; j++)
                        if (comparison->tasks[j].match == TASK_ONLY_B &&
                            a->label[comparison->tasks[i].a.node] == b->label[comparison->tasks[j].b.node]) {
                                snprintf(buf, SENTENCE_SIZE,
                                         _("Tasks of the same name are left unmatched on both sides: try --alpha "
                                           "%d."),
                                         MIN(alpha + 2, MATCH_ALPHA_MAX));
                                return buf;
                        }
        return NULL;
}

static const char *note_of_pairs(const struct comparison *comparison, int alpha, char *buf)
{
        if (!comparison->fell_back)
                return NULL;
        snprintf(buf, SENTENCE_SIZE,
                 _("These trees have too many pairs for alpha %d: matched with alpha %d."),
                 alpha == ALPHA_BY_DATA ? ALPHA_LEAST : alpha, comparison->match.alpha);
        return buf;
}

const char *sentences_make(const struct comparison *comparison, int alpha, size_t shown, enum sentence which, char *buf)
{
        switch (which) {
        case SENTENCE_SIDES:
                return make_sides(comparison, buf);
        case SENTENCE_WORK:
                return make_work(comparison, buf);
        case SENTENCE_SURE:
                return make_sure(comparison, buf);
        case SENTENCE_WORTH:
                return make_worth(comparison, buf);
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
        case SENTENCE_ALPHA:
                return note_of_alpha(comparison, shown, buf);
        case SENTENCE_UNNAMED:
                return note_of_unnamed(comparison, shown, buf);
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
                        snprintf(buf, SENTENCE_SIZE, "%.1f %%, %.1f %%", 100 * comparable->own_a,
                                 100 * comparable->own_b);
                return _("Own functions of the app, outside of tasks, in A and B");
        default:
                if (isnan(comparable->smallest))
                        snprintf(buf, SENTENCE_SIZE, "%s", _("unknown"));
                else if (comparable->smallest > fmax(comparable->total_a, comparable->total_b))
                        snprintf(buf, SENTENCE_SIZE, "%s", _("none: record longer"));
                else
                        snprintf(buf, SENTENCE_SIZE, "%s",
                                 answer_amount(comparison->a->unit, comparable->smallest, text));
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
        task_name(comparison->labels, side->contexts.shown[task->a.node >= 0 ? task->a.node : task->b.node], name,
                  sizeof(name));
        if (isnan(by_calls))
                snprintf(buf, SENTENCE_SIZE, _("%s: by the number of calls, %.0f in A and %.0f in B."), name,
                         task->a.calls, task->b.calls);
        else if (by_calls >= 0.67)
                snprintf(buf, SENTENCE_SIZE, _("%s: by the number of calls (%.0f and %.0f). %s should call "
                                               "it more rarely."), name,
                         task->a.calls, task->b.calls, calls > 1 ? "A" : "B");
        else if (by_calls <= 0.33)
                snprintf(buf, SENTENCE_SIZE,
                         _("%s: by what a call costs, %.3g times as much in %s as in %s (%.0f and %.0f calls). Its "
                           "arguments differ."),
                         name, price > 1 ? price : 1 / price, price > 1 ? "A" : "B", price > 1 ? "B" : "A",
                         task->a.calls, task->b.calls);
        else
                snprintf(buf, SENTENCE_SIZE, _("%s: both by the number of calls (%.0f and %.0f) and by what "
                                               "a call costs."), name,
                         task->a.calls, task->b.calls);
        return buf;
}
