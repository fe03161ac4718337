/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One task of a comparison: its names, what it costs, and whether it got dearer. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "util/util.h"
#include "util/words.h"

const char *task_name(const struct labels *labels, int32_t label, char *buf, size_t size)
{
        const char *text = labels_text(labels, label) + 1;

        const char *library = strchr(text, '\t');

        if (library && strncmp(text, "[unknown]\t", strlen("[unknown]\t")) == 0)
                snprintf(buf, size, "[unknown]@%s", library + 1);
        else
                snprintf(buf, size, "%.*s", (int)strcspn(text, "\t"), text);
        return buf;
}

const char *task_from(const struct side *side, const struct labels *labels, int32_t node, char *buf, size_t size)
{
        int32_t parent = side->contexts.tree.parent[node], origin = side->contexts.origin[node];
        const struct stacks *stacks = &side->stacks;
        const char *program;

        if (parent > 0)
                return task_name(labels, side->contexts.shown[parent], buf, size);
        while (stacks->trie.parent[origin] > 0)
                origin = stacks->trie.parent[origin];
        program = labels_text(&stacks->labels, stacks->trie.label[origin]);
        snprintf(buf, size, "%s", *program ? program : "[unknown]");
        return buf;
}

const char *task_where(const struct comparison *comparison, const struct task *task, char *buf, size_t size)
{
        const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;

        if (!task->elsewhere)
                return task_from(side, comparison->labels, task->a.node >= 0 ? task->a.node : task->b.node, buf, size);
        snprintf(buf, size, "%s", N_("elsewhere"));
        return buf;
}

int task_count_calls(const struct side *side, const struct labels *labels, double **ret)
{
        _cleanup_free_ int32_t *uses = calloc(labels->n + 1, sizeof(*uses));
        const struct contexts *contexts = &side->contexts;
        double *calls = calloc((size_t)contexts->tree.n, sizeof(*calls));

        if (!uses || !calls) {
                free(calls);
                return -ENOMEM;
        }
        for (int32_t i = 0; i < contexts->tree.n; i++)
                uses[contexts->label[i]] += contexts_is_task(contexts, labels, i);
        for (int32_t i = 0; i < contexts->tree.n; i++) {
                int32_t frame = side->stacks.trie.label[contexts->origin[i]];
                bool only = contexts_is_task(contexts, labels, i) && uses[contexts->label[i]] == 1;

                calls[i] = only ? side_calls(side, labels_text(&side->stacks.labels, frame)) : NAN;
        }
        *ret = calls;
        return 0;
}

static struct sampled sample_node(const struct side *side, int32_t node)
{
        double runs = (double)side->contexts.n_runs;

        return (struct sampled){ .value = side_value(side, node), .unit = side_sample(side, node) / runs,
                                 .largest = side_largest_sample(side, node) / runs,
                                 .spread = dispersion_of(&side->dispersion, side, node) };
}

/* The dispersion of a sum of several nodes is taken as the largest of theirs. */
static struct sampled add_nodes(struct sampled a, struct sampled b)
{
        double value = a.value + b.value;

        return (struct sampled){ .value = value,
                                 .unit = value > 0 ? (a.value * a.unit + b.value * b.unit) / value :
                                                     fmax(a.unit, b.unit),
                                 .largest = fmax(a.largest, b.largest),
                                 .spread = { fmax(a.spread.phi, b.spread.phi), fmin(a.spread.df, b.spread.df) } };
}

void task_measure(const struct side *side, const double *calls, const int32_t *next, struct task_side *task)
{
        double runs = (double)side->contexts.n_runs;

        task->sampled = sample_node(side, task->node);
        for (int32_t at = next && task->node >= 0 ? next[task->node] : 0; at > 0; at = next[at])
                task->sampled = add_nodes(task->sampled, sample_node(side, at));
        task->samples = task->sampled.value / task->sampled.unit;
        task->usual = side->sample / runs;
        task->interval = estimate_of(task->sampled, ESTIMATE_Z);
        task->calls = task->node < 0 || !calls ? NAN : calls[task->node];
}

double task_p(const struct task_side *a, const struct task_side *b, double factor)
{
        if (fmax(a->samples, b->samples) < TASK_SAMPLES_MIN ||
            fabs(a->sampled.value - b->sampled.value) < fmin(a->usual, b->usual))
                return 1;
        return estimate_p(a->sampled, b->sampled, factor);
}

int task_find_dearer(const struct comparison *comparison, double share, const struct task **ret)
{
        _cleanup_free_ double *p = calloc(comparison->n + 1, sizeof(*p));
        int err;

        if (!p)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n; i++) {
                const struct task *task = &comparison->tasks[i];

                p[i] = task->a.samples < TASK_SAMPLES_MIN ? 1 : task_p(&task->a, &task->b, 1 + share);
        }
        err = estimate_holm(p, comparison->n);
        *ret = NULL;
        for (size_t i = 0; err == 0 && !*ret && i < comparison->n; i++) {
                const struct task *task = &comparison->tasks[i];

                if (p[i] < ESTIMATE_SURE && task->significant &&
                    task->a.sampled.value > (1 + share) * task->b.sampled.value)
                        *ret = task;
        }
        return err;
}
