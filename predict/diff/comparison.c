/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "leftover.h"
#include "util/util.h"

/* Share of the larger subtree that must be in pairs with equal names, below a pair with different names. */
#define EVIDENCE_MORE_THAN 0.5
#define EVIDENCE_PLACES 2 /* where the pairs are in so many places, this share is enough: */
#define EVIDENCE_PLACES_SHARE 0.3

void comparison_clear(struct comparison *comparison)
{
        match_clear(&comparison->match);
        free(comparison->tasks);
        free(comparison->evidence);
        *comparison = (struct comparison){ 0 };
}

static bool same_label(const struct comparison *comparison, int32_t v, int32_t w)
{
        return comparison->a->contexts.label[v] == comparison->b->contexts.label[w];
}

bool comparison_has_evidence(const struct comparison *comparison, int32_t v, int32_t w)
{
        const struct tree *a = &comparison->a->contexts.tree, *b = &comparison->b->contexts.tree;
        const struct evidence *evidence = &comparison->evidence[v];
        double larger = MAX(a->end[v] - v, b->end[w] - w) - 1;

        return same_label(comparison, v, w) || evidence->pairs > EVIDENCE_MORE_THAN * larger ||
               (evidence->places >= EVIDENCE_PLACES && evidence->pairs >= EVIDENCE_PLACES_SHARE * larger);
}

static bool is_task(const struct side *side, const struct labels *labels, int32_t node)
{
        return contexts_is_task(&side->contexts, labels, node);
}

static void add_task(struct comparison *comparison, int32_t v, int32_t w)
{
        struct task task = { .a.node = v, .b.node = w, .distance = -1 };

        if (v >= 0 && w >= 0) {
                task.evidence = comparison->evidence[v].pairs;
                task.distance = comparison->match.distance[v];
                task.match = comparison_has_evidence(comparison, v, w) ? TASK_BOTH : TASK_POSSIBLE;
        } else {
                task.match = v >= 0 ? TASK_ONLY_A : TASK_ONLY_B;
        }
        comparison->tasks[comparison->n++] = task;
}

/* Tasks without a partner that is a task. */
static void mark_left(struct comparison *comparison, char *left_a, char *left_b)
{
        int32_t n_a = comparison->a->contexts.tree.n, n_b = comparison->b->contexts.tree.n;

        for (int32_t w = 1; w < n_b; w++)
                left_b[w] = is_task(comparison->b, comparison->labels, w);
        for (int32_t v = 1; v < n_a; v++) {
                int32_t w = comparison->match.partner[v];

                if (!is_task(comparison->a, comparison->labels, v))
                        continue;
                if (w >= 0 && left_b[w] && comparison_has_evidence(comparison, v, w))
                        left_b[w] = 0;
                else
                        left_a[v] = 1;
        }
}

static int list_tasks(struct comparison *comparison)
{
        int32_t n_a = comparison->a->contexts.tree.n, n_b = comparison->b->contexts.tree.n;
        _cleanup_free_ char *left_a = calloc((size_t)n_a, 1), *left_b = calloc((size_t)n_b, 1);
        int err;

        comparison->tasks = calloc((size_t)n_a + (size_t)n_b, sizeof(*comparison->tasks));
        if (!left_a || !left_b || !comparison->tasks)
                return -ENOMEM;
        err = evidence_count(comparison, &comparison->evidence);
        if (err < 0)
                return err;
        mark_left(comparison, left_a, left_b);
        err = leftover_pair(comparison, comparison->match.alpha, left_a, left_b);
        if (err < 0)
                return err;
        for (int32_t v = 1; v < n_a; v++) {
                int32_t w = comparison->match.partner[v];

                if (!is_task(comparison->a, comparison->labels, v))
                        continue;
                if (left_a[v] && w >= 0 && left_b[w] && comparison->evidence[v].pairs > 0) /* possible */
                        left_b[w] = 0;
                else if (left_a[v])
                        w = -1;
                add_task(comparison, v, w);
        }
        for (int32_t w = 1; w < n_b; w++)
                if (left_b[w])
                        add_task(comparison, -1, w);
        return 0;
}

/* More calls, or dearer calls: the change of each at the mean of the other. */
static void split(struct task *task)
{
        double a = task->a.sampled.value, b = task->b.sampled.value;

        task->by_calls = task->by_price = NAN;
        if (!(task->a.calls > 0) || !(task->b.calls > 0) || task->a.node < 0 || task->b.node < 0)
                return;
        task->by_calls = (task->a.calls - task->b.calls) * (a / task->a.calls + b / task->b.calls) / 2;
        task->by_price = (a / task->a.calls - b / task->b.calls) * (task->a.calls + task->b.calls) / 2;
}

/* A function whose calls were counted in a program that has no sample of it: as the other program's stacks name it. */
static double unseen_calls(const struct side *side, const struct side *seen, const struct task_side *task)
{
        const struct stacks *stacks = &seen->stacks;

        return isnan(task->calls) ? NAN
                                  : side_calls(side, labels_text(&stacks->labels, stacks->trie.label[seen->contexts.origin[task->node]]));
}

static void count_unseen(struct comparison *comparison)
{
        for (size_t i = 0; i < comparison->n; i++) {
                struct task *task = &comparison->tasks[i];

                if (task->match == TASK_ONLY_A)
                        task->b.calls = unseen_calls(comparison->b, comparison->a, &task->a);
                else if (task->match == TASK_ONLY_B)
                        task->a.calls = unseen_calls(comparison->a, comparison->b, &task->b);
        }
}

static int measure(struct comparison *comparison)
{
        _cleanup_free_ double *p = calloc(comparison->n + 1, sizeof(*p)), *calls_a = NULL, *calls_b = NULL;
        int err;

        if (!p || task_count_calls(comparison->a, comparison->labels, &calls_a) < 0 ||
            task_count_calls(comparison->b, comparison->labels, &calls_b) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n; i++) {
                struct task *task = &comparison->tasks[i];

                task_measure(comparison->a, calls_a, &task->a);
                task_measure(comparison->b, calls_b, &task->b);
                task->difference = estimate_difference(task->a.sampled, task->b.sampled, 1, ESTIMATE_Z);
                p[i] = MAX(task->a.samples, task->b.samples) < TASK_SAMPLES_MIN ? 1
                                                                               : estimate_p(task->a.sampled, task->b.sampled, 1);
        }
        count_unseen(comparison);
        err = estimate_holm(p, comparison->n);
        for (size_t i = 0; err == 0 && i < comparison->n; i++) {
                comparison->tasks[i].p = p[i];
                comparison->tasks[i].significant = p[i] < 0.05;
        }
        for (size_t i = 0; i < comparison->n; i++)
                split(&comparison->tasks[i]);
        return err;
}

static int compare_numbers(double x, double y)
{
        return x > y ? -1 : x < y;
}

static int compare_nodes(int32_t x, int32_t y)
{
        return (x > y) - (x < y);
}

/* The tree's labels are ranks by name. */
static int compare_names(const struct comparison *comparison, const struct task *x, const struct task *y)
{
        const struct tree *tree_x = x->a.node >= 0 ? &comparison->a->contexts.tree : &comparison->b->contexts.tree;
        const struct tree *tree_y = y->a.node >= 0 ? &comparison->a->contexts.tree : &comparison->b->contexts.tree;
        int32_t node_x = x->a.node >= 0 ? x->a.node : x->b.node, node_y = y->a.node >= 0 ? y->a.node : y->b.node;
        int order = compare_nodes(tree_x->label[node_x], tree_y->label[node_y]);

        return order ? order : compare_nodes(tree_x->label[tree_x->parent[node_x]], tree_y->label[tree_y->parent[node_y]]);
}

/* Significant ones first, by the size of the difference. */
static int compare_tasks(const void *a, const void *b, void *data)
{
        const struct task *x = a, *y = b;
        int order = (int)y->significant - (int)x->significant;

        if (!order)
                order = compare_numbers(fabs(x->difference.value), fabs(y->difference.value));
        if (!order)
                order = compare_numbers(x->a.sampled.value + x->b.sampled.value, y->a.sampled.value + y->b.sampled.value);
        if (!order)
                order = compare_names(data, x, y);
        if (!order)
                order = compare_nodes(x->a.node >= 0 ? x->a.node : x->b.node, y->a.node >= 0 ? y->a.node : y->b.node);
        return order;
}

int comparison_match(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                     struct comparison *ret)
{
        _cleanup_(comparison_clear) struct comparison comparison = { .a = a, .b = b, .labels = labels };
        int err = match_within(&a->contexts.tree, &b->contexts.tree, wish->alpha, wish->objective, &match_limits, &comparison.match);

        comparison.fell_back = err == 0 && comparison.match.alpha != wish->alpha;
        if (err == 0)
                err = list_tasks(&comparison);
        if (err < 0)
                return err;
        *ret = comparison;
        comparison = (struct comparison){ 0 };
        return 0;
}

int comparison_make(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                    struct comparison *ret)
{
        _cleanup_(comparison_clear) struct comparison comparison = { 0 };
        int err = comparison_match(a, b, labels, wish, &comparison);

        if (err == 0)
                err = measure(&comparison);
        if (err == 0)
                err = comparable_measure(&comparison);
        if (err < 0)
                return err;
        qsort_r(comparison.tasks, comparison.n, sizeof(*comparison.tasks), compare_tasks, &comparison);
        *ret = comparison;
        comparison = (struct comparison){ 0 };
        return 0;
}
