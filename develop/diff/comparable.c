/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whether two programs can be compared at all, and the rank of each task's function in a plain profile. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "util/util.h"

/* Self costs of functions by label, summed over all contexts and runs in an order that is not that of the input. */
static double *plain_profile(const struct side *side, size_t n_labels)
{
        double *cost = calloc(n_labels + 1, sizeof(*cost));

        for (size_t run = 0; cost && run < side->contexts.n_runs; run++)
                for (int32_t i = 0; i < side->contexts.tree.n; i++)
                        cost[side->contexts.label[i]] += side->contexts.self[run][i];
        return cost;
}

/* For each label, whether the program has this function of a framework: 0 or 1. */
static char *functions(const struct side *side, const struct labels *labels)
{
        char *there = calloc(labels->n + 1, 1);

        for (int32_t i = 1; there && i < side->contexts.tree.n; i++)
                there[side->contexts.label[i]] = contexts_class(&side->contexts, labels, i) == CONTEXT_FRAMEWORK;
        return there;
}

static int compare_costs(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return *x > *y ? -1 : *x < *y;
}

/* Sets the rank of each task's function by self cost; functions of equal cost have the same rank. */
static int rank(struct comparison *comparison, const struct side *side, const double *cost, size_t offset,
                size_t rank_offset)
{
        _cleanup_free_ double *sorted = calloc(comparison->labels->n + 1, sizeof(*sorted));
        size_t n = comparison->labels->n;

        if (!sorted)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                sorted[i] = cost[i];
        qsort(sorted, n, sizeof(*sorted), compare_costs);
        for (size_t i = 0; i < comparison->n; i++) {
                char *task = (char *)&comparison->tasks[i];
                int32_t node = ((struct task_side *)(void *)(task + offset))->node;
                double own = node >= 0 ? cost[side->contexts.label[node]] : 0;
                size_t low = 0, high = n;

                while (low < high) {
                        size_t middle = low + (high - low) / 2;

                        if (sorted[middle] > own)
                                low = middle + 1;
                        else
                                high = middle;
                }
                *(int32_t *)(void *)(task + rank_offset) = own > 0 ? (int32_t)low + 1 : -1;
        }
        return 0;
}

static void share_functions(struct comparison *comparison, const double *cost_a, const double *cost_b, const char *in_a,
                            const char *in_b)
{
        double all_a = 0, all_b = 0, common_a = 0, common_b = 0;
        double runs_a = (double)comparison->a->contexts.n_runs, runs_b = (double)comparison->b->contexts.n_runs;
        size_t n_all = 0, n_common = 0;

        for (size_t i = 0; i < comparison->labels->n; i++) {
                bool both = in_a[i] && in_b[i];

                if (!in_a[i] && !in_b[i])
                        continue;
                n_all++;
                n_common += both;
                all_a += cost_a[i];
                all_b += cost_b[i];
                common_a += both ? cost_a[i] : 0;
                common_b += both ? cost_b[i] : 0;
        }
        comparison->comparable.energy_common =
                (common_a / runs_a + common_b / runs_b) / (all_a / runs_a + all_b / runs_b);
        comparison->comparable.functions_common = n_all ? (double)n_common / (double)n_all : NAN;
}

/* A task that costs @value, of the program's usual samples, and differs between runs as usual. */
static struct sampled usual_task(const struct side *side, double value)
{
        double unit = side->sample / (double)side->contexts.n_runs;

        return (struct sampled){ value, unit, unit,
                                 dispersion_usual(&side->dispersion, side, value / side->sample) };
}

/*
 * Finds the difference that is detected in 80 of 100 cases, for a task of 1 % of A and B, at the level that
 * Holm's method requires of the first of all tasks. 0.84 is the 80th percentile of the normal distribution.
 */
static void find_smallest(struct comparison *comparison)
{
        if (comparison->a->uncounted || comparison->b->uncounted) {
                comparison->comparable.smallest = NAN;
                return;
        }
        double value = (comparison->comparable.total_a + comparison->comparable.total_b) / 200, low = value,
               high = value * 1e6, level = 1;
        const struct sampled other = usual_task(comparison->b, value);

        while (level < 38 && erfc(level / sqrt(2)) * (double)MAX(comparison->n, (size_t)1) > ESTIMATE_SURE)
                level += 0.01;
        for (int i = 0; i < 100; i++) {
                double middle = low + (high - low) / 2;

                if (estimate_difference(usual_task(comparison->a, middle), other, 1, level).low > 0)
                        high = middle;
                else
                        low = middle;
        }
        comparison->comparable.smallest = (high - value) * (level + 0.8416) / level;
}

/* Is the node a function of the app that --own made a task? The library of one without a name is the program. */
static bool is_own_task(const struct side *side, const struct labels *labels, int32_t node)
{
        const char *text = labels_text(labels, side->contexts.label[node]), *library = strchr(text, '\t');

        if (*text != CONTEXT_FRAMEWORK || !library)
                return false;
        return strcmp(library + 1, CONTEXT_OWN) == 0 ||
               (strncmp(text + 1, "[unknown]\t", 10) == 0 && side->contexts.program &&
                strcmp(library + 1, side->contexts.program) == 0);
}

/*
 * Sums the self cost of the app's functions, except callbacks, whose cost belongs to their task. @tasks: count
 * the functions that are tasks, too. Frameworks between a carrier and what it carries are no task. 0; -ENOMEM.
 */
static int sum_own(const struct side *side, const struct labels *labels, bool tasks, double *ret)
{
        const struct tree *tree = &side->contexts.tree;
        enum { INSIDE, OUTSIDE, CARRIED };
        _cleanup_free_ char *place = calloc((size_t)tree->n, 1);
        double own = 0;

        if (!place)
                return -ENOMEM;
        place[0] = OUTSIDE;
        for (int32_t i = 1; i < tree->n; i++) {
                bool app = contexts_class(&side->contexts, labels, i) == CONTEXT_APP;

                char above = place[tree->parent[i]];

                if (above != INSIDE && side->contexts.label[i] == side->contexts.carrier)
                        place[i] = CARRIED;
                else
                        place[i] = above != INSIDE && app ? OUTSIDE : above == CARRIED ? CARRIED : INSIDE;
                if (above != INSIDE && (app || (tasks && is_own_task(side, labels, i))))
                        own += side_self(side, i);
        }
        *ret = own;
        return 0;
}

int comparable_own(const struct side *side, const struct labels *labels, double *ret)
{
        int err = sum_own(side, labels, false, ret);

        if (err == 0)
                *ret /= side_value(side, 0);
        return err;
}

int comparable_measure(struct comparison *comparison)
{
        size_t n = comparison->labels->n;
        _cleanup_free_ double *cost_a = plain_profile(comparison->a, n), *cost_b = plain_profile(comparison->b, n);
        _cleanup_free_ char *in_a = functions(comparison->a, comparison->labels),
                            *in_b = functions(comparison->b, comparison->labels);
        struct comparable *comparable = &comparison->comparable;

        if (!cost_a || !cost_b || !in_a || !in_b ||
            comparable_own(comparison->a, comparison->labels, &comparable->own_a) < 0 ||
            comparable_own(comparison->b, comparison->labels, &comparable->own_b) < 0 ||
            sum_own(comparison->a, comparison->labels, true, &comparable->in_own_a) < 0 ||
            sum_own(comparison->b, comparison->labels, true, &comparable->in_own_b) < 0)
                return -ENOMEM;
        share_functions(comparison, cost_a, cost_b, in_a, in_b);
        comparable->total_a = side_value(comparison->a, 0);
        comparable->total_b = side_value(comparison->b, 0);
        comparable->without_app_a = side_without_app(comparison->a);
        comparable->without_app_b = side_without_app(comparison->b);
        comparable->calls = comparison->a->calls && comparison->b->calls;
        find_smallest(comparison);
        if (rank(comparison, comparison->a, cost_a, offsetof(struct task, a), offsetof(struct task, plain_rank_a)) < 0)
                return -ENOMEM;
        return rank(comparison, comparison->b, cost_b, offsetof(struct task, b), offsetof(struct task, plain_rank_b));
}

static bool is_below(const struct tree *tree, int32_t node, const bool *marked)
{
        for (int32_t at = node < 0 ? -1 : tree->parent[node]; at >= 0; at = tree->parent[at])
                if (marked[at])
                        return true;
        return false;
}

/* A task below another one of the sum is not added, because the other one contains it. */
int comparable_sum_sure(struct comparison *comparison)
{
        const struct tree *a = &comparison->a->contexts.tree, *b = &comparison->b->contexts.tree;
        _cleanup_free_ bool *in_a = calloc((size_t)a->n, sizeof(*in_a)), *in_b = calloc((size_t)b->n, sizeof(*in_b));
        size_t n = 0;

        if (!in_a || !in_b)
                return -ENOMEM;
        while (n < comparison->n && comparison->tasks[n].significant)
                n++;
        for (size_t i = 0; i < n; i++) {
                for (int32_t v = comparison->tasks[i].a.node; v > 0; v = comparison->next_a[v])
                        in_a[v] = true;
                for (int32_t w = comparison->tasks[i].b.node; w > 0; w = comparison->next_b[w])
                        in_b[w] = true;
        }
        for (size_t i = 0; i < n; i++)
                if (!is_below(a, comparison->tasks[i].a.node, in_a) && !is_below(b, comparison->tasks[i].b.node, in_b))
                        comparison->comparable.sure += comparison->tasks[i].difference.value;
        return 0;
}
