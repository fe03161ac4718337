/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define VALUE_BITS 52
#define SQUARE_BITS 20
#define SQUARE_MAX 0x1p106 /* the square of 2^53 */

int stacks_new(struct stacks *stacks)
{
        int32_t label;

        *stacks = (struct stacks){ 0 };
        label = labels_add(&stacks->labels, "", 0);
        stacks->before = calloc(STACKS_DEPTH_MAX, sizeof(*stacks->before));
        return label < 0 || !stacks->before || trie_child(&stacks->trie, -1, label) < 0 ? -ENOMEM : 0;
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
        free(stacks->largest);
        free(stacks->program);
        free(stacks->before);
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

int32_t stacks_node(struct stacks *stacks, int32_t root, const int32_t *labels, size_t n)
{
        struct trie *trie = &stacks->trie;
        size_t same = 0, n_before = stacks->n_before;
        int32_t label = root, node = 0;

        while (same < n_before && trie->label[stacks->before[same]] == label) {
                node = stacks->before[same++];
                if (same > n)
                        break;
                label = labels[n - same];
        }
        for (size_t i = same; i <= n; i++) {
                node = trie_child(trie, node, i == 0 ? root : labels[n - i]);
                if (node < 0)
                        break;
                stacks->before[i] = node;
        }
        stacks->n_before = node < 0 ? same : n + 1;
        return node;
}

/* Makes room for @node's element in a list of elements of @size bytes; new elements are 0. */
static int make_room(void *list, size_t *n, size_t *capacity, int32_t node, size_t size)
{
        size_t needed = (size_t)node + 1;
        char *numbers;

        if (needed <= *n)
                return 0;
        if (needed > *capacity && util_grow(list, capacity, needed, size) < 0)
                return -ENOMEM;
        memcpy(&numbers, list, sizeof(numbers));
        memset(numbers + *n * size, 0, (needed - *n) * size);
        *n = needed;
        return 0;
}

/*
 * A value of at least 0 in units of 2^-@bits. Where its whole part fits into 64 bits, whole part and fraction are
 * converted one by one, which rounds the same: conversions to 128 bits are calls that take longer than everything
 * else that is done for a sample.
 */
static stacks_sum exact_of(double value, int bits)
{
        const double units = (double)((uint64_t)1 << bits);
        uint64_t whole;
        double rest;

        if (value >= 0x1p63)
                return wide_from_double(nearbyint(value * units));
        whole = (uint64_t)value;
        rest = value - (double)whole;
        return ((stacks_sum)whole << bits) + (rest > 0 ? (uint64_t)nearbyint(rest * units) : 0);
}

int stacks_add(struct stacks *stacks, int32_t node, double value)
{
        struct stacks_run *run = &stacks->runs[stacks->n_runs - 1];
        stacks_sum exact = exact_of(value, VALUE_BITS);

        if (make_room(&run->self, &run->n, &run->capacity, node, sizeof(*run->self)) < 0)
                return -ENOMEM;
        if (run->sum + exact > (stacks_sum)1 << 105) /* 2^53 */
                return -EOVERFLOW;
        run->self[node] += exact;
        run->sum += exact;
        return 0;
}

int stacks_add_samples(struct stacks *stacks, int32_t node, double square, double largest)
{
        struct stacks_run *run = &stacks->runs[stacks->n_runs - 1];
        stacks_sum exact = exact_of(fmin(square, SQUARE_MAX), SQUARE_BITS);

        if (make_room(&run->square, &run->n_square, &run->square_capacity, node, sizeof(*run->square)) < 0 ||
            make_room(&stacks->largest, &stacks->n_largest, &stacks->largest_capacity, node,
                      sizeof(*stacks->largest)) < 0)
                return -ENOMEM;
        exact += run->square[node];
        run->square[node] = exact < run->square[node] ? (stacks_sum)-1 : exact;
        stacks->largest[node] = fmax(stacks->largest[node], largest);
        return 0;
}

static double double_of(stacks_sum exact, int bits)
{
        return wide_to_double_unsigned(exact) / (double)((uint64_t)1 << bits);
}

double stacks_value(const struct stacks_run *run, size_t node)
{
        return node < run->n ? double_of(run->self[node], VALUE_BITS) : 0;
}

double stacks_square(const struct stacks_run *run, size_t node)
{
        return node < run->n_square ? double_of(run->square[node], SQUARE_BITS) : 0;
}

double stacks_largest(const struct stacks *stacks, size_t node)
{
        return node < stacks->n_largest ? stacks->largest[node] : 0;
}

double stacks_total(const struct stacks_run *run)
{
        return double_of(run->sum, VALUE_BITS);
}
