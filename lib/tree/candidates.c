/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which pairs may be matched. The edit distance of two paths comes from those of the paths without their last label, so a
 * row comes from the row of the parent; costs are never negative, so what is farther than alpha is never needed again.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "util/util.h"

#define FAR 255

struct row_maker {
        struct pairs *pairs;
        uint8_t *distance;      /* over the nodes of the second tree; FAR: not in the row */
        uint64_t *below_a, *below_b; /* a Bloom filter of the labels of each node's children; NULL: not used */
};

static void row_maker_clear(struct row_maker *maker)
{
        free(maker->distance);
        free(maker->below_a);
        free(maker->below_b);
}

static bool have_common_label(const struct tree *a, const struct tree *b, int32_t v, int32_t w)
{
        int32_t i = a->first[v], j = b->first[w];

        while (i < a->first[v + 1] && j < b->first[w + 1]) {
                int32_t x = a->label[a->child[i]], y = b->label[b->child[j]];

                if (x == y)
                        return true;
                i += x < y;
                j += x > y;
        }
        return false;
}

/* Only pairs with equal labels score, and this one has no edits left: where no label is below both, it leads to none. */
static bool leads_nowhere(const struct row_maker *maker, int32_t v, int32_t w, int distance)
{
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;

        return maker->below_a && distance == maker->pairs->alpha && a->label[v] != b->label[w] &&
               (!(maker->below_a[v] & maker->below_b[w]) || !have_common_label(a, b, v, w));
}

static void reach(struct row_maker *maker, int32_t v, int32_t w, int distance)
{
        if (leads_nowhere(maker, v, w, distance))
                return;
        if (maker->distance[w] == FAR)
                bitmap_set(&maker->pairs->marked, w);
        if (distance < maker->distance[w])
                maker->distance[w] = (uint8_t)distance;
}

/* From a pair of the parent's row: v is deleted, or matched to a child of w. */
static void extend(struct row_maker *maker, int32_t v, int32_t w, int distance)
{
        const struct tree *b = maker->pairs->b;
        int32_t label = maker->pairs->a->label[v], child;

        if (distance < maker->pairs->alpha) {
                reach(maker, v, w, distance + 1);
                for (int32_t i = b->first[w]; i < b->first[w + 1]; i++)
                        reach(maker, v, b->child[i], distance + (b->label[b->child[i]] != label));
        } else {
                child = tree_find(b, w, label);
                if (child >= 0)
                        reach(maker, v, child, distance);
        }
}

static int append(struct pairs *pairs, int32_t w, int distance)
{
        struct candidates *row = &pairs->candidates;

        if ((row->n + 1) * (sizeof(*row->node) + 1) > pairs->limits->bytes)
                return -E2BIG;
        if (row->n + 1 > row->nodes && util_grow(&row->node, &row->nodes, row->n + 1, sizeof(*row->node)) < 0)
                return -ENOMEM;
        if (row->n + 1 > row->distances && util_grow(&row->distance, &row->distances, row->n + 1, 1) < 0)
                return -ENOMEM;
        row->node[row->n] = w;
        row->distance[row->n++] = (uint8_t)distance;
        return 0;
}

static int make_row(struct row_maker *maker, int32_t v)
{
        struct pairs *pairs = maker->pairs;
        struct candidates *rows = &pairs->candidates;
        const struct tree *b = pairs->b;
        int32_t parent = pairs->a->parent[v];
        int err = 0;

        if (parent < 0)
                reach(maker, v, 0, pairs->a->label[0] != b->label[0]);
        for (size_t i = parent < 0 ? 0 : rows->start[parent]; parent >= 0 && i < rows->start[parent + 1]; i++)
                extend(maker, v, rows->node[i], rows->distance[i]);
        for (int32_t w = bitmap_next(&pairs->marked, 0); w >= 0; w = bitmap_next(&pairs->marked, w + 1)) {
                int distance = maker->distance[w];

                if (distance < pairs->alpha) /* a child of w is inserted; it comes later in this loop */
                        for (int32_t i = b->first[w]; i < b->first[w + 1]; i++)
                                reach(maker, v, b->child[i], distance + 1);
                if (err == 0 && distance <= pairs->alpha)
                        err = append(pairs, w, distance);
                maker->distance[w] = FAR;
                bitmap_unset(&pairs->marked, w);
        }
        return err;
}

static int make_filter(const struct tree *tree, uint64_t **ret)
{
        uint64_t *below = calloc((size_t)tree->n, sizeof(*below));

        if (!below)
                return -ENOMEM;
        for (int32_t i = 1; i < tree->n; i++)
                below[tree->parent[i]] |= (uint64_t)1 << ((uint32_t)tree->label[i] * 0x9e3779b1U >> 26);
        *ret = below;
        return 0;
}

int candidates_find(struct pairs *pairs)
{
        _cleanup_(row_maker_clear) struct row_maker maker = { .pairs = pairs, .distance = malloc((size_t)pairs->b->n) };
        int err;

        pairs->candidates.start = calloc((size_t)pairs->a->n + 1, sizeof(*pairs->candidates.start));
        if (!maker.distance || !pairs->candidates.start)
                return -ENOMEM;
        memset(maker.distance, FAR, (size_t)pairs->b->n);
        if (pairs->objective == MATCH_EQUAL &&
            (make_filter(pairs->a, &maker.below_a) < 0 || make_filter(pairs->b, &maker.below_b) < 0))
                return -ENOMEM;
        for (int32_t v = 0; v < pairs->a->n; v++) {
                pairs->candidates.start[v] = pairs->candidates.n;
                err = make_row(&maker, v);
                if (err < 0)
                        return err;
                pairs->candidates.start[v + 1] = pairs->candidates.n;
        }
        return 0;
}
