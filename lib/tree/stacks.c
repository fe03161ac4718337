/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

int stacks_new(struct stacks *stacks)
{
        int32_t label;

        *stacks = (struct stacks){ 0 };
        label = labels_add(&stacks->labels, "", 0);
        return label < 0 || trie_child(&stacks->trie, -1, label) < 0 ? -ENOMEM : 0;
}

void stacks_clear(struct stacks *stacks)
{
        labels_clear(&stacks->labels);
        trie_clear(&stacks->trie);
        for (size_t i = 0; i < stacks->n_runs; i++)
                free(stacks->runs[i].self);
        free(stacks->runs);
        free(stacks->program);
        *stacks = (struct stacks){ 0 };
}

int stacks_begin(struct stacks *stacks)
{
        if (util_grow(&stacks->runs, &stacks->capacity, stacks->n_runs + 1, sizeof(*stacks->runs)) < 0)
                return -ENOMEM;
        stacks->runs[stacks->n_runs++] = (struct stacks_run){ .samples = NAN };
        return 0;
}

int32_t stacks_child(struct stacks *stacks, int32_t parent, const char *frame, size_t length)
{
        int32_t label = labels_add(&stacks->labels, frame, length);

        return label < 0 ? label : trie_child(&stacks->trie, parent, label);
}

int stacks_add(struct stacks *stacks, int32_t node, double value)
{
        struct stacks_run *run = &stacks->runs[stacks->n_runs - 1];
        size_t needed = (size_t)node + 1;

        if (needed > run->capacity && util_grow(&run->self, &run->capacity, needed, sizeof(*run->self)) < 0)
                return -ENOMEM;
        if (needed > run->n) {
                memset(run->self + run->n, 0, (needed - run->n) * sizeof(*run->self));
                run->n = needed;
        }
        value = value < 0x1p32 ? ldexp(nearbyint(ldexp(value, 20)), -20) : nearbyint(value);
        run->self[node] += value;
        run->total += value;
        return 0;
}
