/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The answer as JSON: docs/json.md. */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../answer.h"
#include "../options.h"
#include "diff.h"
#include "model/json-print.h"
#include "util/util.h"

void answer_add_number(cJSON *object, const char *key, double value)
{
        char text[32];

        if (isnan(value)) {
                cJSON_AddNullToObject(object, key);
        } else if (fabs(value) >= 1e15) { /* of which cJSON prints 15 digits */
                snprintf(text, sizeof(text), "%.17g", value);
                cJSON_AddRawToObject(object, key, text);
        } else {
                cJSON_AddNumberToObject(object, key, value == 0 ? 0 : value); /* no -0 */
        }
}

cJSON *answer_add_estimate(cJSON *object, const char *key, struct estimate interval)
{
        cJSON *json = cJSON_CreateObject();

        answer_add_number(json, "value", interval.value);
        answer_add_number(json, "low", interval.low);
        answer_add_number(json, "high", interval.high);
        if (key)
                cJSON_AddItemToObject(object, key, json);
        else
                cJSON_AddItemToArray(object, json);
        return json;
}

void answer_add_path(cJSON *object, const char *key, const struct side *side, int32_t node)
{
        cJSON *path = cJSON_AddArrayToObject(object, key);
        const struct trie *trie = &side->stacks.trie;

        for (int32_t at = node < 0 ? 0 : side->contexts.origin[node]; at > 0; at = trie->parent[at])
                cJSON_InsertItemInArray(path, 0, cJSON_CreateString(labels_text(&side->stacks.labels, trie->label[at])));
}

static void add_rank(cJSON *object, const char *key, int32_t rank)
{
        answer_add_number(object, key, rank < 0 ? NAN : rank);
}

static const char *const words[] = { "both", "only-a", "only-b", "possible" };

static cJSON *task_json(const struct comparison *comparison, const struct task *task)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
        int32_t node = task->a.node >= 0 ? task->a.node : task->b.node;
        char text[FRAME_NAME_MAX];
        cJSON *json = cJSON_CreateObject(), *object;

        cJSON_AddStringToObject(json, "task", task_name(comparison->labels, side->contexts.label[node], text, sizeof(text)));
        if (task->match == TASK_POSSIBLE || (task->match == TASK_BOTH && comparison->a->contexts.label[task->a.node] !=
                                                                                 comparison->b->contexts.label[task->b.node]))
                cJSON_AddStringToObject(json, "task_b", task_name(comparison->labels,
                                                                  comparison->b->contexts.label[task->b.node], text, sizeof(text)));
        cJSON_AddStringToObject(json, "from", task_from(side, comparison->labels, node, text, sizeof(text)));
        object = answer_add_estimate(json, "a", task->a.interval);
        answer_add_number(object, "calls", task->a.calls);
        object = answer_add_estimate(json, "b", task->b.interval);
        answer_add_number(object, "calls", task->b.calls);
        answer_add_estimate(json, "difference", task->difference);
        answer_add_number(json, "by_calls", task->by_calls);
        answer_add_number(json, "by_price", task->by_price);
        cJSON_AddStringToObject(json, "match", words[task->match]);
        answer_add_path(json, "a_path", comparison->a, task->a.node);
        answer_add_path(json, "b_path", comparison->b, task->b.node);
        answer_add_number(json, "distance", task->distance < 0 ? NAN : task->distance);
        answer_add_number(json, "evidence", task->distance < 0 ? NAN : task->evidence);
        answer_add_number(json, "p", task->p);
        cJSON_AddBoolToObject(json, "significant", task->significant);
        add_rank(json, "plain_rank_a", task->plain_rank_a);
        add_rank(json, "plain_rank_b", task->plain_rank_b);
        return json;
}

static void add_same_work(cJSON *json, const struct comparison *comparison)
{
        const struct side *a = comparison->a, *b = comparison->b;
        char reason[1024];
        enum same_work same = same_work_check(&a->work, a->name, &b->work, b->name, reason, sizeof(reason));

        if (a->work.n == 0 || b->work.n == 0)
                cJSON_AddNullToObject(json, "same_work");
        else
                cJSON_AddBoolToObject(json, "same_work", same != OTHER_WORK);
}

static void add_comparable(cJSON *json, const struct comparison *comparison)
{
        const struct comparable *comparable = &comparison->comparable;
        cJSON *object = cJSON_AddObjectToObject(json, "comparable");
        bool single = comparison->a->contexts.n_runs == 1 || comparison->b->contexts.n_runs == 1;

        answer_add_number(object, "energy_common", comparable->energy_common);
        answer_add_number(object, "functions_common", comparable->functions_common);
        answer_add_number(object, "without_app_a", comparable->without_app_a);
        answer_add_number(object, "without_app_b", comparable->without_app_b);
        answer_add_number(object, "own_a", comparable->own_a);
        answer_add_number(object, "own_b", comparable->own_b);
        answer_add_number(object, "total_a", comparable->total_a);
        answer_add_number(object, "total_b", comparable->total_b);
        answer_add_number(object, "smallest_difference", comparable->smallest);
        answer_add_number(object, "runs_a", (double)comparison->a->contexts.n_runs);
        answer_add_number(object, "runs_b", (double)comparison->b->contexts.n_runs);
        cJSON_AddBoolToObject(object, "single_run", single);
        add_same_work(object, comparison);
}

static cJSON *head_json(const struct comparison *comparison)
{
        static const char *const objectives[] = { "similar", "count" };
        cJSON *json = cJSON_CreateObject();

        add_comparable(json, comparison);
        cJSON_AddStringToObject(json, "unit", comparison->a->unit);
        cJSON_AddNumberToObject(json, "alpha", comparison->match.alpha);
        cJSON_AddStringToObject(json, "objective", objectives[comparison->match.objective]);
        cJSON_AddBoolToObject(json, "fell_back", comparison->fell_back);
        cJSON_AddNumberToObject(json, "nodes_a", comparison->a->contexts.tree.n);
        cJSON_AddNumberToObject(json, "nodes_b", comparison->b->contexts.tree.n);
        cJSON_AddNumberToObject(json, "matched_nodes", comparison->match.matched);
        cJSON_AddNumberToObject(json, "matched_score", (double)comparison->match.score);
        json_add_schema(json);
        return json;
}

/* A task at a time: all of a large tree would not fit into memory at once. */
int answer_print_tasks(const struct comparison *comparison)
{
        _cleanup_free_ char *head = json_print(head_json(comparison), JSON_INDENTED);

        if (!head)
                return CODE_FAILED; /* main() says that there is no memory */
        printf("%.*s,\n\t\"tasks\":\t[", (int)strlen(head) - (int)strlen("\n}"), head);
        for (size_t i = 0; i < comparison->n; i++) {
                _cleanup_free_ char *task = json_print(task_json(comparison, &comparison->tasks[i]), JSON_LINE);

                if (!task)
                        return CODE_FAILED;
                printf("%s\n\t\t%s", i > 0 ? "," : "", task);
        }
        printf("]\n}\n");
        return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
}
