/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elsewhere.h"
#include "evidence.h"
#include "leftover.h"
#include "util/util.h"

/* Share of the larger subtree that must be in pairs with equal names, below a pair with different names. */
#define EVIDENCE_MORE_THAN 0.5
#define EVIDENCE_PLACES 2 /* where the pairs are in so many places, this share is enough: */
#define EVIDENCE_PLACES_SHARE 0.3
#define APART_FEW 0.05 /* part of the tasks of equal names */

void comparison_clear(struct comparison *comparison)
{
        match_clear(&comparison->match);
        free(comparison->tasks);
        free(comparison->evidence);
        free(comparison->next_a);
        free(comparison->next_b);
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

static void add_elsewhere(struct comparison *comparison, int32_t v, int32_t w)
{
        comparison->tasks[comparison->n++] = (struct task){ .a.node = v, .b.node = w, .match = TASK_BOTH,
                                                            .distance = -1, .elsewhere = true };
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
        if (err == 0)
                err = elsewhere_join(comparison, left_a, left_b, add_elsewhere);
        if (err < 0)
                return err;
        for (int32_t v = 1; v < n_a; v++) {
                int32_t w = comparison->match.partner[v];

                if (!is_task(comparison->a, comparison->labels, v) || left_a[v] == ELSEWHERE)
                        continue;
                if (left_a[v] && w >= 0 && left_b[w] == 1 && comparison->evidence[v].pairs > 0) /* possible */
                        left_b[w] = 0;
                else if (left_a[v])
                        w = -1;
                add_task(comparison, v, w);
        }
        for (int32_t w = 1; w < n_b; w++)
                if (left_b[w] == 1)
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

        return isnan(task->calls) ?
                       NAN :
                       side_calls(side, labels_text(&stacks->labels,
                                                    stacks->trie.label[seen->contexts.origin[task->node]]));
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

bool comparison_is_dearer(const struct side *a, const struct side *b, double share, size_t tests)
{
        struct task_side of_a = { .node = 0 }, of_b = { .node = 0 };

        task_measure(a, NULL, NULL, &of_a);
        task_measure(b, NULL, NULL, &of_b);
        return of_a.sampled.value > (1 + share) * of_b.sampled.value &&
               task_p(&of_a, &of_b, 1 + share) * (double)tests < ESTIMATE_SURE;
}

static void measure_total(struct comparison *comparison)
{
        struct task *total = &comparison->total;

        *total = (struct task){ .match = TASK_BOTH };
        task_measure(comparison->a, NULL, NULL, &total->a);
        task_measure(comparison->b, NULL, NULL, &total->b);
        total->difference = estimate_difference(total->a.sampled, total->b.sampled, 1, ESTIMATE_Z);
        total->p = task_p(&total->a, &total->b, 1);
        total->significant = total->p < ESTIMATE_SURE;
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

                task_measure(comparison->a, calls_a, comparison->next_a, &task->a);
                task_measure(comparison->b, calls_b, comparison->next_b, &task->b);
                task->difference = estimate_difference(task->a.sampled, task->b.sampled, 1, ESTIMATE_Z);
                p[i] = task_p(&task->a, &task->b, 1);
        }
        measure_total(comparison);
        count_unseen(comparison);
        err = estimate_holm(p, comparison->n);
        for (size_t i = 0; err == 0 && i < comparison->n; i++) {
                comparison->tasks[i].p = p[i];
                comparison->tasks[i].significant = p[i] < ESTIMATE_SURE;
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

        return order ? order :
                       compare_nodes(tree_x->label[tree_x->parent[node_x]],
                                     tree_y->label[tree_y->parent[node_y]]);
}

/* Significant ones first, by the size of the difference. */
static int compare_tasks(const void *a, const void *b, void *data)
{
        const struct task *x = a, *y = b;
        int order = (int)y->significant - (int)x->significant;

        if (!order)
                order = compare_numbers(fabs(x->difference.value), fabs(y->difference.value));
        if (!order)
                order = compare_numbers(x->a.sampled.value + x->b.sampled.value,
                                        y->a.sampled.value + y->b.sampled.value);
        if (!order)
                order = compare_names(data, x, y);
        if (!order)
                order = compare_nodes(x->a.node >= 0 ? x->a.node : x->b.node, y->a.node >= 0 ? y->a.node : y->b.node);
        return order;
}

static int match_by(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                    struct comparison *ret)
{
        _cleanup_(comparison_clear) struct comparison comparison = { .a = a, .b = b, .labels = labels };
        int err = match_within(&a->contexts.tree, &b->contexts.tree, wish->alpha, wish->objective,
                               &match_limits, &comparison.match);

        comparison.fell_back = err == 0 && comparison.match.alpha != wish->alpha;
        if (err == 0)
                err = list_tasks(&comparison);
        if (err < 0)
                return err;
        *ret = comparison;
        comparison = (struct comparison){ 0 };
        return 0;
}

bool comparison_is_apart(const struct comparison *comparison)
{
        return (double)comparison->apart > APART_FEW * (double)comparison->equal;
}

/* Takes a greater alpha only if it fits in time and memory, and leaves fewer tasks apart. */
int comparison_match(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                     struct comparison *ret)
{
        _cleanup_(comparison_clear) struct comparison best = { 0 };
        struct match_wish one = *wish;
        int err;

        if (wish->alpha != ALPHA_BY_DATA)
                return match_by(a, b, labels, wish, ret);
        one.alpha = ALPHA_LEAST;
        err = match_by(a, b, labels, &one, &best);
        while (err == 0 && !best.fell_back && comparison_is_apart(&best) && one.alpha < ALPHA_MOST) {
                struct comparison next;

                one.alpha++;
                err = match_by(a, b, labels, &one, &next);
                if (err < 0)
                        return err;
                if (!next.fell_back && next.apart < best.apart) {
                        struct comparison before = best;

                        best = next;
                        next = before;
                }
                comparison_clear(&next);
        }
        if (err < 0)
                return err;
        best.chosen = true;
        *ret = best;
        best = (struct comparison){ 0 };
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
        err = comparable_sum_sure(&comparison);
        if (err < 0)
                return err;
        *ret = comparison;
        comparison = (struct comparison){ 0 };
        return 0;
}
