/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `joulecast compare`: runs of joulecast emulate beside each other; for CI also as a yes or no. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "commands.h"
#include "compare.h"
#include "util/quantile.h"
#include "util/table.h"
#include "util/util.h"

#define FAIL_SEEDS 3 /* --fail-if needs so many in each run */
#define RUNS_MAX 32

struct request {
        struct options options;
        const char *names[RUNS_MAX];
        const char *html;         /* NULL: no page */
        double fail_percent;      /* NaN: never */
        struct compared *list;
        size_t n;
};

/* "+10%", "10%" or "10". */
static int take_limit(const char *text, void *data)
{
        char copy[32];
        size_t length = strlen(text);
        double percent;

        if (length == 0 || length >= sizeof(copy))
                return -EINVAL;
        memcpy(copy, text, length + 1);
        if (copy[length - 1] == '%')
                copy[length - 1] = '\0';
        if (util_parse_double(copy + (*copy == '+'), &percent) < 0)
                return -EINVAL;
        if (percent < 0 || percent > 1e6)
                return -ERANGE;
        *(double *)data = percent;
        return 0;
}

/* How much the mean of the seeds may be off, 95 %; 0 with a single one, of which nothing is known. */
static double mean_error(const struct compared *compared)
{
        const struct answer_run *answer = &compared->answer;
        size_t n = compared->recorded.n_runs;
        double squares = 0;

        for (size_t i = 0; i < n; i++) {
                double off = answer->prices[i].energy_j.value - answer->price.energy_j.value;

                squares += off * off;
        }
        return n > 1 ? quantile_student_t((double)(n - 1), 0.95) * sqrt(squares / (double)(n - 1) / (double)n) : 0;
}

/*
 * Both runs are priced by profiles whose errors are mostly the same, so a part of the difference is wrong
 * by as much as the energy is. What differs between seeds comes in addition.
 */
static void compare_with(const struct compared *first, struct compared *other)
{
        const struct span *a = &first->answer.price.energy_j, *b = &other->answer.price.energy_j;
        double value = b->value - a->value, seeds = hypot(mean_error(first), mean_error(other));
        double part = fmax(b->high - b->value, b->value - b->low) / b->value;
        double half = hypot(seeds, fabs(value) * part);

        /* No run gives energy back. */
        other->difference_j = (struct span){ value, fmax(value - half, -a->value), value + half };
}

double compare_percent(const struct compared *first, double difference_j)
{
        return difference_j / first->answer.price.energy_j.value * 100;
}

static int load(struct request *request)
{
        for (; request->n < RUNS_MAX && request->names[request->n]; request->n++) {
                struct compared *compared = &request->list[request->n];

                compared->name = request->names[request->n];
                if (run_load(compared->name, &program_log, &compared->recorded) < 0)
                        return CODE_FAILED;
                if (answer_run_make(&compared->recorded, NAN, &program_log, &compared->answer) < 0) {
                        run_file_clear(&compared->recorded);
                        return CODE_FAILED;
                }
                compare_with(&request->list[0], compared);
        }
        return CODE_OK;
}

static struct cJSON *span_json(double value, double low, double high)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "value", value);
        cJSON_AddNumberToObject(json, "low", low);
        cJSON_AddNumberToObject(json, "high", high);
        return json;
}

static int print_json(const struct request *request)
{
        struct cJSON *json = cJSON_CreateObject(), *runs = cJSON_AddArrayToObject(json, "runs");

        for (size_t i = 0; i < request->n; i++) {
                const struct compared *compared = &request->list[i];
                const struct span *difference = &compared->difference_j;
                struct cJSON *one = answer_run_json(&compared->answer);

                cJSON_AddItemToObject(one, "run", answer_text(compared->name));
                cJSON_AddItemToObject(one, "difference_j",
                                      span_json(difference->value, difference->low, difference->high));
                cJSON_AddItemToObject(one, "difference_percent",
                                      span_json(compare_percent(request->list, difference->value),
                                                compare_percent(request->list, difference->low),
                                                compare_percent(request->list, difference->high)));
                cJSON_AddItemToArray(runs, one);
        }
        return answer_print_json(json);
}

static void print_difference(const struct request *request, const struct span *difference, bool first,
                             struct table *table)
{
        if (first) {
                table_cell(table, "%s", "");
                table_cell(table, "%s", "");
                return;
        }
        table_cell(table, "%+.1f %%", compare_percent(request->list, difference->value));
        table_cell(table, "%+.1f .. %+.1f", compare_percent(request->list, difference->low),
                   compare_percent(request->list, difference->high));
}

static bool has_too_few_seeds(const struct request *request, size_t least)
{
        for (size_t i = 0; i < request->n; i++)
                if (request->list[i].recorded.n_runs < least)
                        return true;
        return false;
}

static void print_table(const struct request *request)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrrr");

        table_heads(table, N_("Run"), N_("Target and network"), N_("Energy"), N_("Difference"), N_("95 % CI"),
                    N_("Battery"), NULL);
        for (size_t i = 0; i < request->n; i++) {
                const struct compared *compared = &request->list[i];
                const struct price *price = &compared->answer.price;

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", compared->name);
                table_cell(table, "%s, %s", compared->answer.target.name, compared->answer.network.name);
                table_cell(table, "%.2f J", price->energy_j.value);
                print_difference(request, &compared->difference_j, i == 0, table);
                table_cell(table, "%.1f h", price->battery_hours.value);
        }
        table_print(table);
        if (has_too_few_seeds(request, 2))
                table_note("A run of one seed does not show the effect of chance, and the interval does not include "
                           "it: joulecast emulate --seeds 3 shows it.");
}

/* Is one of them dearer than may be? An exit code. */
static int judge(const struct request *request)
{
        for (size_t i = 1; !isnan(request->fail_percent) && i < request->n; i++) {
                double percent = compare_percent(request->list, request->list[i].difference_j.value);

                if (percent > request->fail_percent) {
                        log_error(&program_log, "%.200s takes %.1f %% more than %.200s, and at most %g %% are allowed",
                                  request->list[i].name, percent, request->list[0].name, request->fail_percent);
                        return CODE_FAILED;
                }
        }
        return CODE_OK;
}

static int compare(struct request *request)
{
        int code;

        request->list = calloc(RUNS_MAX, sizeof(*request->list));
        if (!request->list)
                return CODE_FAILED;
        code = load(request);
        if (code == CODE_OK && !isnan(request->fail_percent) && has_too_few_seeds(request, FAIL_SEEDS)) {
                log_error(&program_log, "--fail-if needs runs of three seeds or more, as one run may differ by "
                                        "chance: joulecast emulate --seeds 3");
                code = CODE_USAGE;
        }
        if (code == CODE_OK && request->html)
                code = compare_page(request->list, request->n, request->html) < 0 ? CODE_FAILED : CODE_OK;
        else if (code == CODE_OK && request->options.json)
                code = print_json(request);
        else if (code == CODE_OK)
                print_table(request);
        if (code == CODE_OK)
                code = judge(request);
        for (size_t i = 0; i < request->n; i++) {
                answer_run_clear(&request->list[i].answer);
                run_file_clear(&request->list[i].recorded);
        }
        free(request->list);
        return code;
}

int compare_main(int argc, char **argv)
{
        struct request request = { .fail_percent = NAN };
        const struct option_row rows[] = {
                { "html", "FILE", N_("write a page with pictures in place of the table; - for standard output"),
                  .text = &request.html, .excludes = "json" },
                { "fail-if", "+N%", N_("exit with 1 if a run takes more than the first by more than N %"),
                  .parse = take_limit, .data = &request.fail_percent, .wants = N_("a percentage like +10%"),
                  .range = N_("from 0 to 1000000 %") },
        };
        const struct option_table command = {
                .called = "joulecast compare",
                .usage = "joulecast compare RUN RUN... [OPTIONS]",
                .about = N_("Compares runs that joulecast emulate -o kept: shows them beside each other, each with its "
                            "difference from the first."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
                .words = request.names,
                .max_words = RUNS_MAX,
                .exits = N_("0 done; 1 it failed, or a run takes more than --fail-if allows; 2 wrong usage"),
        };
        int code = options_parse(&command, SHARED_JSON, argc, argv, &request.options);

        if (code >= 0)
                return code;
        if (!request.names[0] || !request.names[1]) {
                log_error(&program_log, "two runs or more are needed, as joulecast emulate -o RUN keeps them");
                return CODE_USAGE;
        }
        return compare(&request);
}
