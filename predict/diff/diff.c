/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast diff`: why a program needs more energy than another, by task. */

#include "diff.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../answer.h"
#include "../commands.h"
#include "../options.h"
#include "page/page.h"
#include "probe.h"
#include "tree/overrides.h"
#include "util/util.h"
#include "util/words.h"
#include "weight.h"

#define CODE_DEARER 4 /* --fail-if */
#define WORDS_MAX 32

struct list {
        const char *words[WORDS_MAX + 1]; /* ends with NULL */
        size_t n;
};

struct asked {
        const char *sides[DIFF_SIDES_MAX + 1];
        struct list framework_prefixes, app_prefixes, app_dsos;
        const char *callers, *objective, *page, *folded, *pprof, *weight, *probe;
        uint64_t alpha;
        double fail_percent;
        bool bisect, all, even_so, own;
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

struct work {
        struct side sides[DIFF_SIDES_MAX];
        size_t n;
        struct labels labels; /* of all contexts */
};

static void work_clear(struct work *work)
{
        for (size_t i = 0; i < work->n; i++)
                side_clear(&work->sides[i]);
        labels_clear(&work->labels);
}

static int read_sides(const struct asked *asked, struct work *work)
{
        size_t values = 0;
        int err;

        for (size_t i = 0; asked->sides[i]; i++) {
                err = side_read(asked->sides[i], &program_log, &work->sides[i]);
                if (err < 0)
                        return err;
                work->n++;
                err = weight_take(asked->sides[i], weight_of(asked->weight), &program_log, &work->sides[i]);
                if (err < 0)
                        return err;
                values += work->sides[i].stacks.n_runs * work->sides[i].stacks.trie.n;
                if (values > 2 * STACKS_VALUES_MAX) {
                        log_error(&program_log, "%s and what stands before it have more than 16 million calling contexts in all runs "
                                  "together; compare fewer programs", work->sides[i].name);
                        return -E2BIG;
                }
                if (strcmp(work->sides[i].unit, work->sides[0].unit) != 0) {
                        log_error(&program_log, "%s counts %s, and %s counts %s: they cannot be compared", work->sides[0].name,
                                  work->sides[0].unit, work->sides[i].name, work->sides[i].unit);
                        return -EINVAL;
                }
        }
        return 0;
}

/* 0; -EINVAL after its sentence: two of them did not do the same, and it was not said that this is meant. */
static int check_work(const struct asked *asked, const struct work *work)
{
        for (size_t i = 1; i < work->n; i++) {
                char reason[1024];
                enum same_work same = same_work_check(&work->sides[0].work, work->sides[0].name, &work->sides[i].work,
                                                      work->sides[i].name, reason, sizeof(reason));

                if (same == OTHER_WORK && !asked->even_so) {
                        log_error(&program_log, "%s, so they did not do the same work; if that is meant, --even-so compares them",
                                  reason);
                        return -EINVAL;
                }
                if (same != SAME_WORK)
                        log_warning(&program_log, "%s", reason);
        }
        return 0;
}

/* Without a rule, DSOs tell frameworks from the app; without these nothing does. */
static int check_rules(const struct context_rules *rules, const struct work *work)
{
        for (size_t i = 0; i < work->n; i++) {
                if (rules->frames.framework_prefixes || rules->frames.app_prefixes || side_has_dsos(&work->sides[i]))
                        continue;
                log_error(&program_log, "%s does not say which frames are a framework's: give --framework-prefix or --app-prefix, or "
                          "frames as frame@dso", work->sides[i].name);
                return -EINVAL;
        }
        return 0;
}

static int make_contexts(struct asked *asked, struct work *work)
{
        struct context_rules rules = {
                .frames = { .framework_prefixes = words_of(&asked->framework_prefixes),
                            .app_prefixes = words_of(&asked->app_prefixes), .app_dsos = words_of(&asked->app_dsos) },
                .keep = asked->callers && strcmp(asked->callers, "keep") == 0,
                .own = asked->own,
        };
        _cleanup_(overrides_clear) struct overrides overrides = { 0 };
        _cleanup_free_ int32_t *rank = NULL;
        int err = check_rules(&rules, work);

        for (size_t i = 0; err == 0 && i < work->n; i++) {
                rules.frames.dsos = side_has_dsos(&work->sides[i]);
                err = overrides_add(&overrides, &work->sides[i].stacks, &rules.frames, &work->labels);
        }
        if (err == 0)
                err = overrides_finish(&overrides, &work->labels);
        rules.overrides = &overrides;
        for (size_t i = 0; err == 0 && i < work->n; i++) {
                rules.frames.dsos = side_has_dsos(&work->sides[i]);
                err = contexts_make(&work->sides[i].stacks, &rules, &work->labels, &work->sides[i].contexts);
        }
        if (err == 0)
                err = labels_rank(&work->labels, &rank);
        for (size_t i = 0; err == 0 && i < work->n; i++) {
                err = contexts_finish(&work->sides[i].contexts, rank, work->labels.n);
                if (err == 0)
                        err = dispersion_make(&work->sides[i], &work->labels, &work->sides[i].dispersion);
        }
        return err;
}

/* CODE_OK; CODE_DEARER or CODE_FAILED. */
static int check_dearer(const struct asked *asked, const struct comparison *comparison)
{
        char name[FRAME_NAME_MAX], printable[256];
        const struct task *task;

        if (isnan(asked->fail_percent))
                return CODE_OK;
        if (task_find_dearer(comparison, asked->fail_percent / 100, &task) < 0)
                return CODE_FAILED;
        if (!task)
                return CODE_OK;
        task_name(comparison->labels, comparison->a->contexts.label[task->a.node], name, sizeof(name));
        log_error(&program_log, "%s needs more than %g %% more in A than in B",
                  util_printable(name, printable, sizeof(printable)), asked->fail_percent);
        return CODE_DEARER;
}

static struct match_wish wish_of(const struct asked *asked)
{
        return (struct match_wish){ (int)asked->alpha,
                                    asked->objective && strcmp(asked->objective, "count") == 0 ? MATCH_COUNT : MATCH_SIMILAR };
}

static struct diff_limit limit_of(const struct asked *asked)
{
        return (struct diff_limit){ asked->all ? SIZE_MAX : asked->limit, asked->all || asked->limit > 0 };
}

static int print_page(const struct asked *asked, const struct comparison *comparison)
{
        _cleanup_free_ char *text = answer_page(comparison, (int)asked->alpha);

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
                log_error(&program_log, "%s would have more than 512 MiB or 16 million frames; compare shorter recordings",
                          printable);
        else if (err == -ENOTSUP)
                log_error(&program_log, "--pprof compresses its file, and joulecast was built without zlib; use --folded");
        else if (err < 0)
                log_error(&program_log, "%s cannot be written: %s", printable, util_reason(err));
        return err < 0 ? CODE_FAILED : CODE_OK;
}

static int compare(struct asked *asked, struct work *work, bool json)
{
        _cleanup_(comparison_clear) struct comparison comparison = { 0 };
        const struct match_wish wish = wish_of(asked);
        const struct diff_limit limit = limit_of(asked);
        int err = comparison_make(&work->sides[0], &work->sides[1], &work->labels, &wish, &comparison), code = CODE_OK;

        if (err < 0) {
                log_error(&program_log, "%s and %s cannot be matched: %s", work->sides[0].name, work->sides[1].name, util_reason(err));
                return CODE_FAILED;
        }
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

        if (isnan(asked->fail_percent))
                return CODE_OK;
        found = matrix_find_dearer(matrix, asked->fail_percent / 100, &step);
        if (found <= 0)
                return found < 0 ? CODE_FAILED : CODE_OK;
        matrix_name(matrix, &matrix->rows[step.row], name, sizeof(name));
        log_error(&program_log, "%s needs more than %g %% more in %s than in %s", util_printable(name, printable, sizeof(printable)),
                  asked->fail_percent, matrix->sides[step.after].name, matrix->sides[step.before].name);
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
        } else {
                answer_matrix_table(&matrix, asked->bisect, &limit);
        }
        return code == CODE_OK && asked->bisect ? check_steps(asked, &matrix) : code;
}

static int answer(struct asked *asked, bool json)
{
        _cleanup_(work_clear) struct work work = { 0 };
        int err = read_sides(asked, &work);

        if (err == 0)
                err = check_work(asked, &work);
        if (err == 0)
                err = make_contexts(asked, &work);
        if (err < 0)
                return CODE_FAILED;
        return asked->bisect || work.n > 2 ? compare_many(asked, &work, json) : compare(asked, &work, json);
}

int diff_main(int argc, char **argv)
{
        struct asked asked = { .alpha = 3, .fail_percent = NAN };
        const struct option_row rows[] = {
                { "framework-prefix", "P", N_("frames that begin so are a framework's, others the app's"), .parse = take_word,
                  .data = &asked.framework_prefixes, .wants = N_("a text"), .range = N_("at most 32 times") },
                { "app-prefix", "P", N_("frames that begin so are the app's, others a framework's"), .parse = take_word,
                  .data = &asked.app_prefixes, .wants = N_("a text"), .range = N_("at most 32 times") },
                { "app-dso", "NAME", N_("frames of this file (frame@NAME) are the app's"), .parse = take_word, .data = &asked.app_dsos,
                  .wants = N_("a text"), .range = N_("at most 32 times") },
                { "alpha", "N", N_("edits by which the paths of two tasks may differ"), "3", .count = &asked.alpha,
                  .high = MATCH_ALPHA_MAX },
                { "callers", "HOW", N_("merge the app's functions into its callbacks, or keep them"), "merge", .text = &asked.callers,
                  .words = "merge keep" },
                { "own", .help = N_("the app's own functions are tasks, too: what each of them costs itself"),
                  .flag = &asked.own },
                { "objective", "WHAT", N_("match by similar names and paths, or most pairs"), "similar", .text = &asked.objective,
                  .words = "similar count" },
                { "weight", "WHAT", N_("compare energy, or other columns of folders of joulecast record"), "energy", .text = &asked.weight,
                  .words = WEIGHT_WORDS },
                { "probe", "TASK", N_("run both programs again, and show what TASK is called with; needs root"), .text = &asked.probe },
                { "bisect", .help = N_("versions, the oldest first: between which two tasks became dearer"), .flag = &asked.bisect },
                { "fail-if", "N%", N_("exit with 4 if a task of A is dearer for sure by more than N %"),
                  .number = &asked.fail_percent, .high = 1e6, .unit = "%" },
                { "even-so", .help = N_("compare programs that did not do the same work"), .flag = &asked.even_so },
                { "all", .help = N_("show all tasks"), .flag = &asked.all },
                { "limit", "N", N_("show N tasks"), .count = &asked.limit, .low = 1, .high = 1000000 },
                { "html", "FILE", N_("a page with pictures in place of the table; - for standard output"), .letter = 'o',
                  .text = &asked.page },
                { "folded", "FILE", N_("folded stacks with a count of A and one of B, for flamegraph.pl"),
                  .text = &asked.folded },
                { "pprof", "FILE", N_("a profile with values a, b and difference, for go tool pprof"),
                  .text = &asked.pprof },
        };
        const struct option_table command = {
                .called = "joulecast diff",
                .usage = "joulecast diff A B [C]... [--framework-prefix P]... [--fail-if 20%]\n"
                         "joulecast diff A B -o FILE.html|--folded FILE|--pprof FILE.pb.gz ...\n"
                         "joulecast diff --bisect OLDEST ... NEWEST [--fail-if 20%]",
                .about = N_("Why program A needs more energy than program B: by task, which is a call from\n"
                         "the app into a framework. A and B are folded stacks (app;frame;frame count),\n"
                         "files of pprof, perf script, speedscope, Firefox, callgrind or gperftools,\n"
                         "several runs of them with commas between, or folders of joulecast record."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = asked.sides, .max_words = DIFF_SIDES_MAX,
                .exits = N_("0 done; 1 it failed; 2 wrong usage; 4 a task is dearer (--fail-if)"),
        };
        struct options options = { 0 };
        int code = options_parse(&command, SHARED_JSON, argc, argv, &options), files;

        if (code >= 0)
                return code;
        if (!asked.sides[1]) {
                log_error(&program_log, "diff compares two programs; give a file of stacks for each, as in joulecast diff --help");
                return CODE_USAGE;
        }
        files = !!asked.page + !!asked.folded + !!asked.pprof;
        if (asked.probe && (asked.sides[2] || asked.bisect || files || options.json)) {
                log_error(&program_log, "--probe is for two programs, and prints a table");
                return CODE_USAGE;
        }
        if (asked.sides[2] && !asked.bisect && !isnan(asked.fail_percent)) {
                log_error(&program_log, "--fail-if is for two programs, or for versions with --bisect");
                return CODE_USAGE;
        }
        if (files && (files + options.json > 1 || asked.bisect || asked.sides[2])) {
                log_error(&program_log, "--html, --folded and --pprof are for two programs, one of them at a time and without "
                          "--json");
                return CODE_USAGE;
        }
        return answer(&asked, options.json);
}
