/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast diff`: why a program needs more energy than another, by task. */

#include "diff.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "page/page.h"
#include "overlap.h"
#include "perf-event.h"
#include "probe.h"
#include "tree/functions.h"
#include "tree/overrides.h"
#include "util/util.h"
#include "util/words.h"
#include "weight.h"
#include "worth.h"

#define CODE_DEARER 4 /* --fail-if */
#define WORDS_MAX 32

struct list {
        const char *words[WORDS_MAX + 1]; /* ends with NULL */
        size_t n;
};

struct asked {
        const char *sides[DIFF_SIDES_MAX + 1];
        struct list framework_prefixes, app_prefixes, app_dsos;
        const char *callers, *objective, *page, *folded, *pprof, *weight, *probe, *app;
        struct options options;
        uint64_t alpha;
        double fail_percent, fail_task_percent;
        bool bisect, table, all, even_so, own, no_own;
        uint64_t limit;
};

static int take_word(const char *text, void *data)
{
        struct list *list = data;

        if (!*text)
                return -EINVAL;
        if (list->n >= WORDS_MAX)
                return -E2BIG;
        list->words[list->n++] = text;
        return 0;
}

static const char **words_of(struct list *list)
{
        return list->n ? list->words : NULL;
}

#define LENGTHS_DIFFER 1.25
#define OWN_MOST 0.5 /* share of a program */

struct work {
        struct side sides[DIFF_SIDES_MAX];
        size_t n;
        struct labels labels; /* shared by the contexts of all sides */
};

static void work_clear(struct work *work)
{
        for (size_t i = 0; i < work->n; i++)
                side_clear(&work->sides[i]);
        labels_clear(&work->labels);
}

static int read_sides(const struct asked *asked, struct work *work)
{
        char event[PERF_EVENT_SIZE];
        size_t values = 0;
        int err = perf_event_choose(asked->sides, &program_log, event);

        for (size_t i = 0; err == 0 && asked->sides[i]; i++) {
                err = side_read(asked->sides[i], event, &program_log, &work->sides[i]);
                if (err < 0)
                        return err;
                work->n++;
                err = weight_take(asked->sides[i], weight_of(asked->weight), &program_log, &work->sides[i]);
                if (err < 0)
                        return err;
                values += work->sides[i].stacks.n_runs * work->sides[i].stacks.trie.n;
                if (values > 2 * STACKS_VALUES_MAX) {
                        log_error(&program_log, "%s and the programs before it have more than 16 million calling "
                                                "contexts in all runs together; compare fewer programs",
                                  work->sides[i].name);
                        return -E2BIG;
                }
                if (strcmp(work->sides[i].unit, work->sides[0].unit) != 0) {
                        log_error(&program_log, "%s counts %s, and %s counts %s: they cannot be compared",
                                  work->sides[0].name, work->sides[0].unit, work->sides[i].name,
                                  work->sides[i].unit);
                        return -EINVAL;
                }
                if (strcmp(work->sides[i].event, work->sides[0].event) != 0 && *work->sides[i].event &&
                    *work->sides[0].event) {
                        log_error(&program_log, "%s counts %s, and %s counts %s: they cannot be compared",
                                  work->sides[0].name, work->sides[0].event, work->sides[i].name,
                                  work->sides[i].event);
                        return -EINVAL;
                }
        }
        return err;
}

/* Warns where recording times differ: costs are those of the whole recording, and are compared as they are. */
static void compare_lengths(const struct work *work)
{
        const struct side *first = &work->sides[0];

        for (size_t i = 1; i < work->n; i++) {
                const struct side *side = &work->sides[i];
                double a = first->seconds / (double)first->stacks.n_runs,
                       b = side->seconds / (double)side->stacks.n_runs;

                if (a > 0 && b > 0 && fmax(a, b) > LENGTHS_DIFFER * fmin(a, b))
                        log_warning(&program_log,
                                    "%s was recorded for %.3g s, and %s for %.3g s: what differs may be the time",
                                    first->name, a, side->name, b);
        }
}

/* 0; -EINVAL after its sentence: two programs did not do the same work, and --even-so was not given. */
static int check_work(const struct asked *asked, const struct work *work)
{
        for (size_t i = 1; i < work->n; i++) {
                char reason[1024];
                enum same_work same = same_work_check(&work->sides[0].work, work->sides[0].name, &work->sides[i].work,
                                                      work->sides[i].name, reason, sizeof(reason));

                if (same == OTHER_WORK && !asked->even_so) {
                        log_error(&program_log, "%s, so they did not do the same work; if that is intended, --even-so "
                                                "compares them",
                                  reason);
                        return -EINVAL;
                }
                if (same != SAME_WORK && (same != MORE_WORK || work->n > 2)) /* the answer about two begins with it */
                        log_warning(&program_log, "%s", reason);
        }
        return 0;
}

/*
 * Without a rule, DSOs tell frameworks from the app; without DSOs nothing does, and all may be own functions. Where
 * only some sides have DSOs, a function would be the app's in one and a framework's in another.
 */
static int check_rules(const struct context_rules *rules, const struct work *work)
{
        size_t n = 0;

        for (size_t i = 0; i < work->n; i++)
                n += side_has_dsos(&work->sides[i]);
        if (rules->frames.framework_prefixes || rules->frames.app_prefixes || (n == 0 && rules->own))
                return 0;
        for (size_t i = 0; i < work->n; i++) {
                if (side_has_dsos(&work->sides[i]))
                        continue;
                log_error(&program_log, "%s does not say which frames are a framework's: give "
                          "--framework-prefix or --app-prefix, or frames as frame@dso; --own compares functions "
                          "without either", work->sides[i].name);
                return -EINVAL;
        }
        return 0;
}

static int make_contexts(struct asked *asked, struct work *work, bool own)
{
        struct context_rules rules = {
                .frames = { .framework_prefixes = words_of(&asked->framework_prefixes),
                            .app_prefixes = words_of(&asked->app_prefixes), .app_dsos = words_of(&asked->app_dsos) },
                .keep = asked->callers && strcmp(asked->callers, "keep") == 0,
                .own = own,
        };
        _cleanup_(overrides_clear) struct overrides overrides = { 0 };
        struct contexts *contexts[DIFF_SIDES_MAX];
        _cleanup_free_ int32_t *rank = NULL;
        int err = check_rules(&rules, work);

        for (size_t i = 0; err == 0 && i < work->n; i++) {
                rules.frames.dsos = side_has_dsos(&work->sides[i]);
                rules.frames.python = side_has_python(&work->sides[i]);
                err = overrides_add(&overrides, &work->sides[i].stacks, &rules.frames, &work->labels);
        }
        if (err == 0)
                err = overrides_finish(&overrides, &work->labels);
        rules.overrides = &overrides;
        for (size_t i = 0; err == 0 && i < work->n; i++) {
                rules.frames.dsos = side_has_dsos(&work->sides[i]);
                rules.frames.python = side_has_python(&work->sides[i]);
                err = contexts_make(&work->sides[i].stacks, &rules, &work->labels, &work->sides[i].contexts);
        }
        for (size_t i = 0; i < work->n; i++)
                contexts[i] = &work->sides[i].contexts;
        if (err == 0)
                err = functions_name(contexts, work->n, &work->labels);
        if (err == 0)
                err = labels_rank(&work->labels, &rank);
        for (size_t i = 0; err == 0 && i < work->n; i++) {
                err = contexts_finish(&work->sides[i].contexts, rank, work->labels.n);
                if (err == 0)
                        err = dispersion_make(&work->sides[i], &work->labels, &work->sides[i].dispersion);
        }
        return err;
}

/* Makes the app's own functions tasks, too, where they are most of a program, or where it is written in Python. */
static int choose_contexts(struct asked *asked, struct work *work)
{
        int err = make_contexts(asked, work, asked->own);
        bool much = false;

        for (size_t i = 0; err == 0 && i < work->n; i++) {
                double own = 0;

                err = comparable_own(&work->sides[i], &work->labels, &own);
                much |= side_has_python(&work->sides[i]) || own > OWN_MOST;
        }
        if (err < 0 || asked->own || asked->no_own || !much || weight_of(asked->weight) == WEIGHT_CALLS)
                return err;
        for (size_t i = 0; i < work->n; i++)
                contexts_clear(&work->sides[i].contexts);
        labels_clear(&work->labels);
        return make_contexts(asked, work, true);
}

/* Applies --fail-if to whole programs: A and B, or each version and the one before it. CODE_OK or CODE_DEARER. */
static int check_totals(const struct asked *asked, const struct work *work)
{
        size_t n = asked->bisect ? work->n - 1 : 1;

        for (size_t i = 0; !isnan(asked->fail_percent) && i < n; i++) {
                const struct side *a = &work->sides[asked->bisect ? i + 1 : 0],
                                  *b = &work->sides[asked->bisect ? i : 1];

                if (!comparison_is_dearer(a, b, asked->fail_percent / 100, n))
                        continue;
                log_error(&program_log, "%s needs more than %g %% more than %s", a->name, asked->fail_percent, b->name);
                return CODE_DEARER;
        }
        return CODE_OK;
}

/* CODE_OK; CODE_DEARER or CODE_FAILED. */
static int check_dearer(const struct asked *asked, const struct comparison *comparison)
{
        char name[FRAME_NAME_MAX], printable[256];
        const struct task *task;

        if (isnan(asked->fail_task_percent))
                return CODE_OK;
        if (task_find_dearer(comparison, asked->fail_task_percent / 100, &task) < 0)
                return CODE_FAILED;
        if (!task)
                return CODE_OK;
        task_name(comparison->labels, comparison->a->contexts.shown[task->a.node], name, sizeof(name));
        log_error(&program_log, "%s needs more than %g %% more in A than in B",
                  util_printable(name, printable, sizeof(printable)), asked->fail_task_percent);
        return CODE_DEARER;
}

static struct match_wish wish_of(const struct asked *asked)
{
        return (struct match_wish){ asked->alpha == UINT64_MAX ? ALPHA_BY_DATA : (int)asked->alpha,
                                    asked->objective && strcmp(asked->objective, "count") == 0 ?
                                            MATCH_COUNT :
                                            MATCH_SIMILAR };
}

static struct diff_limit limit_of(const struct asked *asked)
{
        return (struct diff_limit){ asked->all ? SIZE_MAX : asked->limit, asked->all || asked->limit > 0 };
}

static int print_page(const struct asked *asked, const struct comparison *comparison)
{
        _cleanup_free_ char *text = answer_page(comparison, wish_of(asked).alpha);

        return text ? page_write(asked->page, text) : CODE_FAILED;
}

/* --folded or --pprof. */
static int write_joined(const struct asked *asked, const struct comparison *comparison)
{
        const char *path = asked->folded ? asked->folded : asked->pprof;
        _cleanup_free_ char *text = NULL;
        char printable[256];
        size_t length;
        int err = asked->folded ? answer_folded(comparison, &text, &length) : answer_pprof(comparison, &text, &length);

        if (err == 0 && strcmp(path, "-") == 0) {
                fwrite(text, 1, length, stdout);
                return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
        }
        if (err == 0)
                err = util_write_file(path, text, length, 0644);
        util_printable(path, printable, sizeof(printable));
        if (err == -E2BIG)
                log_error(&program_log, "%s would have more than 512 MiB or 16 million frames; compare "
                                        "shorter recordings",
                          printable);
        else if (err == -ENOTSUP)
                log_error(&program_log, "--pprof compresses its file, and joulecast was built without zlib; "
                                        "use --folded");
        else if (err < 0)
                log_error(&program_log, "%s cannot be written: %s", printable, util_reason(err));
        return err < 0 ? CODE_FAILED : CODE_OK;
}

static int compare(struct asked *asked, struct work *work, bool json)
{
        _cleanup_(comparison_clear) struct comparison comparison = { 0 };
        const struct match_wish wish = wish_of(asked);
        const struct diff_limit limit = limit_of(asked);
        struct worth worth;
        int err = comparison_make(&work->sides[0], &work->sides[1], &work->labels, &wish, &comparison), code = CODE_OK;

        if (err < 0) {
                log_error(&program_log, "%s and %s cannot be matched: %s", work->sides[0].name,
                          work->sides[1].name, util_reason(err));
                return CODE_FAILED;
        }
        err = worth_find(&asked->options, asked->app, &comparison, &worth);
        if (err < 0 && err != -ENODATA && err != -ENOENT)
                return CODE_FAILED;
        comparison.worth = err == 0 ? &worth : NULL;
        if (asked->probe) {
                code = probe_become(&comparison, asked->sides, asked->probe);
        } else if (asked->page) {
                code = print_page(asked, &comparison);
        } else if (asked->folded || asked->pprof) {
                code = write_joined(asked, &comparison);
        } else if (json) {
                code = answer_print_tasks(&comparison);
        } else {
                answer_table(&comparison, wish.alpha, &limit);
        }
        return code == CODE_OK ? check_dearer(asked, &comparison) : code;
}

/* CODE_OK; CODE_DEARER or CODE_FAILED. */
static int check_steps(const struct asked *asked, const struct matrix *matrix)
{
        char name[FRAME_NAME_MAX], printable[256];
        struct matrix_step step;
        int found;

        if (isnan(asked->fail_task_percent))
                return CODE_OK;
        found = matrix_find_dearer(matrix, asked->fail_task_percent / 100, &step);
        if (found <= 0)
                return found < 0 ? CODE_FAILED : CODE_OK;
        matrix_name(matrix, &matrix->rows[step.row], name, sizeof(name));
        log_error(&program_log, "%s needs more than %g %% more in %s than in %s",
                  util_printable(name, printable, sizeof(printable)), asked->fail_task_percent,
                  matrix->sides[step.after].name, matrix->sides[step.before].name);
        return CODE_DEARER;
}

static int compare_many(struct asked *asked, struct work *work, bool json)
{
        _cleanup_(matrix_clear) struct matrix matrix = { 0 };
        const struct match_wish wish = wish_of(asked);
        const struct diff_limit limit = limit_of(asked);
        int err = matrix_make(work->sides, work->n, &work->labels, &wish, &matrix), code = CODE_OK;

        if (err == 0 && asked->bisect)
                err = matrix_bisect(&matrix);
        if (err < 0) {
                log_error(&program_log, "these programs cannot be matched: %s", util_reason(err));
                return CODE_FAILED;
        }
        if (json) {
                code = answer_print_matrix(&matrix, asked->bisect);
        } else if (asked->table) {
                overlap_print(&matrix);
        } else {
                answer_matrix_table(&matrix, asked->bisect, &limit);
        }
        return code == CODE_OK && asked->bisect ? check_steps(asked, &matrix) : code;
}

static int answer(struct asked *asked, bool json)
{
        _cleanup_(work_clear) struct work work = { 0 };
        int err = read_sides(asked, &work), code;

        if (err == 0)
                compare_lengths(&work);
        if (err == 0)
                err = check_work(asked, &work);
        if (err == 0)
                err = choose_contexts(asked, &work);
        if (err < 0)
                return CODE_FAILED;
        if (asked->bisect || asked->table || work.n > 2)
                code = compare_many(asked, &work, json);
        else
                code = compare(asked, &work, json);
        return code == CODE_OK ? check_totals(asked, &work) : code;
}

int diff_main(int argc, char **argv)
{
        struct asked asked = { .alpha = UINT64_MAX, .fail_percent = NAN, .fail_task_percent = NAN };
        const struct option_row rows[] = {
                { "framework-prefix", "P", N_("frames that begin with P are a framework's, all others the app's"),
                  .parse = take_word, .data = &asked.framework_prefixes, .wants = N_("a text"),
                  .range = N_("at most 32 times") },
                { "app-prefix", "P", N_("frames that begin with P are the app's, all others a framework's"),
                  .parse = take_word, .data = &asked.app_prefixes, .wants = N_("a text"),
                  .range = N_("at most 32 times") },
                { "app-dso", "NAME", N_("frames of this file (frame@NAME) are the app's"), .parse = take_word,
                  .data = &asked.app_dsos, .wants = N_("a text"), .range = N_("at most 32 times") },
                { "alpha", "N", N_("edits by which the paths of two tasks that are compared may differ; without it "
                                   "3 to 5, by the data"),
                  .count = &asked.alpha, .high = MATCH_ALPHA_MAX },
                { "callers", "HOW", N_("merge the app's functions into its callbacks, or keep them"), "merge",
                  .text = &asked.callers, .words = "merge keep" },
                { "own", .help = N_("the app's own functions are tasks, too, each with what it costs itself"),
                  .flag = &asked.own },
                { "no-own",
                  .help = N_("only calls of frameworks are tasks, also where own functions are most of a program"),
                  .flag = &asked.no_own, .excludes = "own" },
                { "objective", "WHAT", N_("which tasks of A and B to compare: those with similar names and paths, "
                                          "or as many pairs as possible"),
                  "similar", .text = &asked.objective, .words = "similar count" },
                { "weight", "WHAT", N_("what to compare: energy, or another column of folders of joulecast record"),
                  "energy", .text = &asked.weight, .words = WEIGHT_WORDS },
                { "probe", "TASK", N_("run both programs again, and show the arguments of TASK; needs root"),
                  .text = &asked.probe, .excludes = "bisect fail-if fail-if-task html folded pprof json" },
                { "app", "APP", N_("the name of the program's app on this device, to say what a difference is worth "
                                   "a day; without it the program's name"),
                  .text = &asked.app },
                { "bisect", .help = N_("compare versions, the oldest first: show between which two of them tasks "
                                       "became dearer"),
                  .flag = &asked.bisect, .excludes = "html folded pprof" },
                { "table", .help = N_("show how many other programs share each task, and how much each two programs "
                                      "share"),
                  .flag = &asked.table,
                  .excludes = "bisect probe fail-if fail-if-task html folded pprof" },
                { "fail-if", "N%", N_("exit with 4 if A is surely dearer than B by more than N %"),
                  .number = &asked.fail_percent, .high = 1e6, .unit = "%" },
                { "fail-if-task", "N%", N_("exit with 4 if a task of A is surely dearer than in B by more than N %"),
                  .number = &asked.fail_task_percent, .high = 1e6, .unit = "%" },
                { "even-so", .help = N_("compare programs even if they did not do the same work"),
                  .flag = &asked.even_so },
                { "all", .help = N_("show all tasks"), .flag = &asked.all, .excludes = "limit" },
                { "limit", "N", N_("show N tasks"), .count = &asked.limit, .low = 1, .high = 1000000 },
                { "html", "FILE", N_("write a page with pictures in place of the table; - for standard output"),
                  .letter = 'o', .text = &asked.page, .excludes = "folded pprof json" },
                { "folded", "FILE", N_("write folded stacks with a count of A and one of B, for flamegraph.pl"),
                  .text = &asked.folded, .excludes = "pprof json" },
                { "pprof", "FILE", N_("write a profile with the values a, b and difference, for go tool pprof"),
                  .text = &asked.pprof, .excludes = "json" },
        };
        const struct option_table command = {
                .called = "joulecast diff",
                .usage = "joulecast diff A B [C]... [--framework-prefix P]... [--fail-if 20%]\n"
                         "joulecast diff A B -o FILE.html|--folded FILE|--pprof FILE.pb.gz ...\n"
                         "joulecast diff --bisect OLDEST ... NEWEST [--fail-if 20%]\n"
                         "joulecast diff --table A B C...",
                .about = N_("Why program A needs more energy than program B, by task: a task is a call from the app "
                            "into a framework. A and B are folders of joulecast record, or files: folded stacks "
                            "(app;frame;frame count), or those of pprof, perf script, speedscope, Firefox, "
                            "callgrind or gperftools, several runs of a program with commas between."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = asked.sides, .max_words = DIFF_SIDES_MAX,
                .exits = N_("0 done; 1 it failed; 2 wrong usage; 4 A or a task of it is dearer (--fail-if)"),
        };
        int code = options_parse(&command, SHARED_JSON | SHARED_PROFILE | SHARED_DATABASE | SHARED_DEVICE, argc, argv,
                                 &asked.options);

        if (code >= 0)
                return code;
        if (!asked.sides[1]) {
                log_error(&program_log, "diff compares two programs; give a file of stacks for each, as in "
                                        "joulecast diff --help");
                return CODE_USAGE;
        }
        if (asked.sides[2] && (asked.probe || asked.page || asked.folded || asked.pprof)) {
                log_error(&program_log, "--probe, --html, --folded and --pprof are for two programs");
                return CODE_USAGE;
        }
        if (asked.sides[2] && !asked.bisect && (!isnan(asked.fail_percent) || !isnan(asked.fail_task_percent))) {
                log_error(&program_log, "--fail-if is for two programs, or for versions with --bisect");
                return CODE_USAGE;
        }
        return answer(&asked, asked.options.json);
}
