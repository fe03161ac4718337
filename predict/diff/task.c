/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One task of a comparison: its names, and whether it got dearer. */

#include <stdio.h>
#include <string.h>

#include "comparison.h"

const char *task_name(const struct labels *labels, int32_t label, char *buf, size_t size)
{
        const char *text = labels_text(labels, label) + 1;

        snprintf(buf, size, "%.*s", (int)strcspn(text, "\t"), text);
        return buf;
}

const char *task_from(const struct side *side, const struct labels *labels, int32_t node, char *buf, size_t size)
{
        int32_t parent = side->contexts.tree.parent[node], origin = side->contexts.origin[node];
        const struct stacks *stacks = &side->stacks;

        if (parent > 0)
                return task_name(labels, side->contexts.label[parent], buf, size);
        while (stacks->trie.parent[origin] > 0)
                origin = stacks->trie.parent[origin];
        snprintf(buf, size, "%s", labels_text(&stacks->labels, stacks->trie.label[origin]));
        return buf;
}

bool task_is_dearer(const struct task *task, double share)
{
        return task->significant && estimate_difference(task->a.sampled, task->b.sampled, 1 + share, ESTIMATE_Z).low > 0;
}
