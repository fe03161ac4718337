/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

void trie_clear(struct trie *trie)
{
        free(trie->parent);
        free(trie->label);
        free(trie->first);
        free(trie->slots);
        *trie = (struct trie){ 0 };
}

static size_t slot_of(const struct trie *trie, int32_t parent, int32_t label)
{
        uint64_t hash = ((uint64_t)(uint32_t)parent << 32 | (uint32_t)label) * 0x9e3779b97f4a7c15ULL;

        return (hash ^ (hash >> 29)) & (trie->n_slots - 1);
}

static int grow_slots(struct trie *trie)
{
        size_t n = trie->n_slots ? trie->n_slots * 2 : 1024, at;
        int32_t *slots = malloc(n * sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        memset(slots, 0xff, n * sizeof(*slots));
        free(trie->slots);
        trie->slots = slots;
        trie->n_slots = n;
        for (size_t i = 0; i < trie->n; i++) {
                if (trie->first[trie->parent[i] + 1] == (int32_t)i)
                        continue;
                at = slot_of(trie, trie->parent[i], trie->label[i]);
                while (slots[at] >= 0)
                        at = (at + 1) & (n - 1);
                slots[at] = (int32_t)i;
        }
        return 0;
}

/* The slot of a node, or where it would go. */
static size_t find_slot(const struct trie *trie, int32_t parent, int32_t label)
{
        size_t at = slot_of(trie, parent, label);

        for (; trie->slots[at] >= 0; at = (at + 1) & (trie->n_slots - 1))
                if (trie->parent[trie->slots[at]] == parent && trie->label[trie->slots[at]] == label)
                        break;
        return at;
}

int32_t trie_find(const struct trie *trie, int32_t parent, int32_t label)
{
        int32_t first = trie->n > 0 ? trie->first[parent + 1] : -1;

        if (first < 0 || trie->label[first] == label)
                return first;
        return trie->n_slots ? trie->slots[find_slot(trie, parent, label)] : -1;
}

static int grow_nodes(struct trie *trie)
{
        return util_grow(&trie->parent, &trie->parents, trie->n + 2, sizeof(*trie->parent)) < 0 ||
                               util_grow(&trie->label, &trie->labels, trie->n + 2, sizeof(*trie->label)) < 0 ||
                               util_grow(&trie->first, &trie->capacity, trie->n + 2, sizeof(*trie->first)) < 0
                       ? -ENOMEM
                       : 0;
}

/* Adds a node, which is in no list of children yet. */
static int32_t append(struct trie *trie, int32_t parent, int32_t label)
{
        if (trie->n >= TRIE_NODES_MAX)
                return -E2BIG;
        if (trie->n + 2 > trie->capacity && grow_nodes(trie) < 0)
                return -ENOMEM;
        trie->parent[trie->n] = parent;
        trie->label[trie->n] = label;
        trie->first[trie->n + 1] = -1;
        return (int32_t)trie->n++;
}

int32_t trie_child(struct trie *trie, int32_t parent, int32_t label)
{
        int32_t node = trie->n > 0 ? trie->first[parent + 1] : -1;
        size_t at;

        if (node < 0) {
                node = append(trie, parent, label);
                if (node >= 0)
                        trie->first[parent + 1] = node;
                return node;
        }
        if (trie->label[node] == label)
                return node;
        if (trie->used * 2 >= trie->n_slots && grow_slots(trie) < 0)
                return -ENOMEM;
        at = find_slot(trie, parent, label);
        if (trie->slots[at] >= 0)
                return trie->slots[at];
        node = append(trie, parent, label);
        if (node >= 0) {
                trie->slots[at] = node;
                trie->used++;
        }
        return node;
}

/* Sorts nodes by the rank of their labels, the greatest first: a counting sort. */
static int sort_down(const struct trie *trie, const int32_t *rank, size_t n, int32_t *order)
{
        _cleanup_free_ size_t *count = calloc(n + 1, sizeof(*count));
        size_t at = 0, size;

        if (!count)
                return -ENOMEM;
        for (size_t i = 0; i < trie->n; i++)
                count[n - 1 - (size_t)rank[trie->label[i]]]++;
        for (size_t i = 0; i < n; i++) {
                size = count[i];
                count[i] = at;
                at += size;
        }
        for (size_t i = 0; i < trie->n; i++)
                order[count[n - 1 - (size_t)rank[trie->label[i]]]++] = (int32_t)i;
        return 0;
}

int trie_order(const struct trie *trie, const int32_t *rank, size_t n, int32_t **ret)
{
        _cleanup_free_ int32_t *down = calloc(trie->n + 1, sizeof(*down)),
                               *first = malloc((trie->n + 1) * sizeof(*first));
        _cleanup_free_ int32_t *next = calloc(trie->n + 1, sizeof(*next)), *order = calloc(trie->n + 1, sizeof(*order));
        size_t at = 0;
        int32_t node = 0;

        if (!down || !first || !next || !order || sort_down(trie, rank, n, down) < 0)
                return -ENOMEM;
        memset(first, 0xff, (trie->n + 1) * sizeof(*first));
        for (size_t i = 0; i < trie->n; i++) { /* the smallest label comes last, and so is the first of its list */
                int32_t parent = trie->parent[down[i]];

                if (parent < 0)
                        continue;
                next[down[i]] = first[parent];
                first[parent] = down[i];
        }
        next[0] = -1;
        for (;;) {
                order[at++] = node;
                if (first[node] >= 0) {
                        node = first[node];
                        continue;
                }
                while (node > 0 && next[node] < 0)
                        node = trie->parent[node];
                if (node <= 0)
                        break;
                node = next[node];
        }
        *ret = TAKE_PTR(order);
        return 0;
}
