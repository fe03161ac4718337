/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The answer as JSON: docs/json.md. */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "diff.h"
#include "model/json-print.h"
#include "util/util.h"
#include "worth.h"

static void add_number(cJSON *object, const char *key, double value)
{
        char text[32];

        if (isnan(value)) {
                cJSON_AddNullToObject(object, key);
        } else if (fabs(value) >= 1e15) { /* cJSON prints 15 digits, which are too few */
                snprintf(text, sizeof(text), "%.17g", value);
                cJSON_AddRawToObject(object, key, text);
        } else {
                cJSON_AddNumberToObject(object, key, value == 0 ? 0 : value); /* no -0 */
        }
}

static void write_bounds(struct json_writer *json, struct estimate interval)
{
        json_write_number(json, "value", interval.value);
        json_write_number(json, "low", interval.low);
        json_write_number(json, "high", interval.high);
}

void answer_write_estimate(struct json_writer *json, const char *key, struct estimate interval)
{
        json_write_begin(json, key, '{');
        write_bounds(json, interval);
        json_write_end(json, '}');
}

void answer_write_side(struct json_writer *json, const struct task_side *side)
{
        write_bounds(json, side->interval);
        json_write_number(json, "calls", side->calls);
}

void answer_write_path(struct json_writer *json, const char *key, const struct side *side, int32_t node)
{
        const struct trie *trie = &side->stacks.trie;
        int32_t path[STACKS_DEPTH_MAX];
        size_t n = 0;

        for (int32_t at = node < 0 ? 0 : side->contexts.origin[node]; at > 0 && n < ARRAY_SIZE(path);
             at = trie->parent[at])
                path[n++] = trie->label[at];
        json_write_begin(json, key, '[');
        while (n-- > 0)
                json_write_text(json, NULL, labels_text(&side->stacks.labels, path[n]));
        json_write_end(json, ']');
}

static void write_rank(struct json_writer *json, const char *key, int32_t rank)
{
        json_write_number(json, key, rank < 0 ? NAN : rank);
}

static const char *const words[] = { "both", "only-a", "only-b", "possible" };

static void write_task(struct json_writer *json, const struct comparison *comparison, const struct task *task)
{
        const struct side *a = comparison->a, *b = comparison->b, *side = task->a.node >= 0 ? a : b;
        int32_t node = task->a.node >= 0 ? task->a.node : task->b.node;
        char text[FRAME_NAME_MAX];

        json_write_begin(json, NULL, '{');
        json_write_text(json, "task", task_name(comparison->labels, side->contexts.shown[node], text, sizeof(text)));
        if (task->match == TASK_POSSIBLE ||
            (task->match == TASK_BOTH && a->contexts.label[task->a.node] != b->contexts.label[task->b.node]))
                json_write_text(json, "task_b",
                                task_name(comparison->labels, b->contexts.shown[task->b.node], text, sizeof(text)));
        json_write_text(json, "from", task_where(comparison, task, text, sizeof(text)));
        json_write_begin(json, "a", '{');
        answer_write_side(json, &task->a);
        json_write_end(json, '}');
        json_write_begin(json, "b", '{');
        answer_write_side(json, &task->b);
        json_write_end(json, '}');
        answer_write_estimate(json, "difference", task->difference);
        json_write_number(json, "by_calls", task->by_calls);
        json_write_number(json, "by_price", task->by_price);
        json_write_text(json, "match", words[task->match]);
        answer_write_path(json, "a_path", a, task->a.node);
        answer_write_path(json, "b_path", b, task->b.node);
        json_write_number(json, "distance", task->distance < 0 ? NAN : task->distance);
        json_write_number(json, "evidence", task->distance < 0 ? NAN : task->evidence);
        json_write_number(json, "p", task->p);
        json_write_bool(json, "significant", task->significant);
        if (comparison->worth)
                answer_write_estimate(json, "worth_minutes", worth_minutes(comparison->worth, task->difference));
        write_rank(json, "plain_rank_a", task->plain_rank_a);
        write_rank(json, "plain_rank_b", task->plain_rank_b);
        json_write_end(json, '}');
}

static void add_same_work(cJSON *json, const struct comparison *comparison)
{
        const struct side *a = comparison->a, *b = comparison->b;
        char reason[1024];
        enum same_work same = same_work_check(&a->work, a->name, &b->work, b->name, reason, sizeof(reason));

        if (a->work.n == 0 || b->work.n == 0)
                cJSON_AddNullToObject(json, "same_work");
        else
                cJSON_AddBoolToObject(json, "same_work", same < MORE_WORK);
        if (same == SAME_WORK)
                cJSON_AddNullToObject(json, "work_differs");
        else
                cJSON_AddStringToObject(json, "work_differs", reason);
}

static void add_comparable(cJSON *json, const struct comparison *comparison)
{
        const struct comparable *comparable = &comparison->comparable;
        cJSON *object = cJSON_AddObjectToObject(json, "comparable");
        bool single = comparison->a->contexts.n_runs == 1 || comparison->b->contexts.n_runs == 1;

        add_number(object, "energy_common", comparable->energy_common);
        add_number(object, "functions_common", comparable->functions_common);
        add_number(object, "without_app_a", comparable->without_app_a);
        add_number(object, "without_app_b", comparable->without_app_b);
        add_number(object, "own_a", comparable->own_a);
        add_number(object, "own_b", comparable->own_b);
        add_number(object, "total_a", comparable->total_a);
        add_number(object, "total_b", comparable->total_b);
        add_number(object, "smallest_difference", comparable->smallest);
        add_number(object, "runs_a", (double)comparison->a->contexts.n_runs);
        add_number(object, "runs_b", (double)comparison->b->contexts.n_runs);
        cJSON_AddBoolToObject(object, "single_run", single);
        add_same_work(object, comparison);
}

/* The difference of the whole programs. */
static void add_difference(cJSON *json, const struct comparison *comparison)
{
        cJSON *object = cJSON_AddObjectToObject(json, "difference");
        const struct task *total = &comparison->total;
        double own = comparison->comparable.in_own_a - comparison->comparable.in_own_b;

        add_number(object, "value", total->difference.value);
        add_number(object, "low", isfinite(total->difference.low) ? total->difference.low : NAN);
        add_number(object, "high", isfinite(total->difference.high) ? total->difference.high : NAN);
        add_number(object, "in_tasks", total->difference.value - own);
        add_number(object, "in_own", own);
        add_number(object, "p", total->p);
        cJSON_AddBoolToObject(object, "significant", total->significant);
}

/* Minutes of battery a day, on this device. */
static void add_worth(cJSON *json, const struct comparison *comparison)
{
        const struct worth *worth = comparison->worth;
        struct estimate minutes;
        cJSON *object;

        if (!worth) {
                cJSON_AddNullToObject(json, "worth");
                return;
        }
        object = cJSON_AddObjectToObject(json, "worth");
        minutes = worth_minutes(worth, comparison->total.difference);
        cJSON_AddStringToObject(object, "app", worth->use.app);
        add_number(object, "days", worth->use.days);
        add_number(object, "joules_per_day", worth->joules);
        add_number(object, "device_mw", worth->use.device_w * 1e3);
        add_number(object, "minutes_per_day", minutes.value);
        add_number(object, "minutes_low", minutes.low);
        add_number(object, "minutes_high", isfinite(minutes.high) ? minutes.high : NAN);
}

static cJSON *head_json(const struct comparison *comparison)
{
        static const char *const objectives[] = { "similar", "count" };
        cJSON *json = cJSON_CreateObject();

        add_comparable(json, comparison);
        add_difference(json, comparison);
        add_worth(json, comparison);
        cJSON_AddStringToObject(json, "unit", comparison->a->unit);
        cJSON_AddNumberToObject(json, "alpha", comparison->match.alpha);
        cJSON_AddBoolToObject(json, "alpha_by_data", comparison->chosen);
        cJSON_AddStringToObject(json, "objective", objectives[comparison->match.objective]);
        cJSON_AddBoolToObject(json, "fell_back", comparison->fell_back);
        cJSON_AddNumberToObject(json, "nodes_a", comparison->a->contexts.tree.n);
        cJSON_AddNumberToObject(json, "nodes_b", comparison->b->contexts.tree.n);
        cJSON_AddNumberToObject(json, "matched_nodes", comparison->match.matched);
        cJSON_AddNumberToObject(json, "matched_score", (double)comparison->match.score);
        json_add_schema(json);
        return json;
}

bool answer_begin_json(cJSON *head)
{
        _cleanup_free_ char *text = json_print(head, JSON_INDENTED);

        if (text)
                printf("%.*s", (int)strlen(text) - (int)strlen("\n}"), text);
        return text;
}

void answer_begin_rows(const char *key)
{
        printf(",\n\t\"%s\":\t[", key);
}

struct json_writer answer_begin_row(bool first)
{
        fputs(first ? "\n\t\t" : ",\n\t\t", stdout);
        return (struct json_writer){ .file = stdout };
}

int answer_end_json(void)
{
        printf("\n}\n");
        return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
}

int answer_print_tasks(const struct comparison *comparison)
{
        if (!answer_begin_json(head_json(comparison)))
                return CODE_FAILED; /* main() says that there is no memory */
        answer_begin_rows("tasks");
        for (size_t i = 0; i < comparison->n; i++) {
                struct json_writer json = answer_begin_row(i == 0);

                write_task(&json, comparison, &comparison->tasks[i]);
        }
        putchar(']');
        return answer_end_json();
}
