/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define VALUE_UNITS 0x1p52
#define SQUARE_UNITS 0x1p20
#define SQUARE_MAX 0x1p106 /* of 2^53 */

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
        for (size_t i = 0; i < stacks->n_runs; i++) {
                free(stacks->runs[i].self);
                free(stacks->runs[i].square);
        }
        free(stacks->runs);
        free(stacks->program);
        *stacks = (struct stacks){ 0 };
}

int stacks_end(const struct stacks *stacks)
{
        return stacks->n_runs * stacks->trie.n > STACKS_VALUES_MAX ? -E2BIG : 0;
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

/* Room for a node's sum; what is new is 0. */
static int make_room(stacks_sum **list, size_t *n, size_t *capacity, int32_t node)
{
        size_t needed = (size_t)node + 1;

        if (needed <= *n)
                return 0;
        if (util_grow(list, capacity, needed, sizeof(**list)) < 0)
                return -ENOMEM;
        memset(*list + *n, 0, (needed - *n) * sizeof(**list));
        *n = needed;
        return 0;
}

int stacks_add(struct stacks *stacks, int32_t node, double value)
{
        struct stacks_run *run = &stacks->runs[stacks->n_runs - 1];
        stacks_sum exact = (stacks_sum)nearbyint(value * VALUE_UNITS);

        if (make_room(&run->self, &run->n, &run->capacity, node) < 0)
                return -ENOMEM;
        if (run->sum + exact > (stacks_sum)1 << 105) /* 2^53 */
                return -EOVERFLOW;
        run->self[node] += exact;
        run->sum += exact;
        run->total = (double)run->sum / VALUE_UNITS;
        return 0;
}

int stacks_add_square(struct stacks *stacks, int32_t node, double square)
{
        struct stacks_run *run = &stacks->runs[stacks->n_runs - 1];
        stacks_sum exact = (stacks_sum)nearbyint(fmin(square, SQUARE_MAX) * SQUARE_UNITS);

        if (make_room(&run->square, &run->n_square, &run->square_capacity, node) < 0)
                return -ENOMEM;
        exact += run->square[node];
        run->square[node] = exact < run->square[node] ? (stacks_sum)-1 : exact;
        return 0;
}

double stacks_value(const struct stacks_run *run, size_t node)
{
        return node < run->n ? (double)run->self[node] / VALUE_UNITS : 0;
}

double stacks_square(const struct stacks_run *run, size_t node)
{
        return node < run->n_square ? (double)run->square[node] / SQUARE_UNITS : 0;
}
