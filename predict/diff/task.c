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
                return task_name(labels, side->contexts.label[parent], buf, size);
        while (stacks->trie.parent[origin] > 0)
                origin = stacks->trie.parent[origin];
        program = labels_text(&stacks->labels, stacks->trie.label[origin]);
        snprintf(buf, size, "%s", *program ? program : "[unknown]");
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

void task_measure(const struct side *side, const double *calls, struct task_side *task)
{
        double value = side_value(side, task->node), runs = (double)side->contexts.n_runs;

        task->sampled = (struct sampled){ .value = value, .unit = side_sample(side, task->node) / runs,
                                          .largest = side_largest_sample(side, task->node) / runs,
                                          .spread = dispersion_of(&side->dispersion, side, task->node) };
        task->samples = value / task->sampled.unit;
        task->interval = estimate_of(task->sampled, ESTIMATE_Z);
        task->calls = task->node < 0 ? NAN : calls[task->node];
}

int task_find_dearer(const struct comparison *comparison, double share, const struct task **ret)
{
        _cleanup_free_ double *p = calloc(comparison->n + 1, sizeof(*p));
        int err;

        if (!p)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n; i++) {
                const struct task *task = &comparison->tasks[i];

                p[i] = task->a.samples < TASK_SAMPLES_MIN ? 1 : estimate_p(task->a.sampled, task->b.sampled, 1 + share);
        }
        err = estimate_holm(p, comparison->n);
        *ret = NULL;
        for (size_t i = 0; err == 0 && !*ret && i < comparison->n; i++) {
                const struct task *task = &comparison->tasks[i];

                if (p[i] < 0.05 && task->significant && task->a.sampled.value > (1 + share) * task->b.sampled.value)
                        *ret = task;
        }
        return err;
}
