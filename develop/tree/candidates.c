/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the pairs that may be matched. The edit distance of two paths follows from those of the paths without
 * their last label, so a row is made from the row of the parent; costs are never negative, so pairs farther than
 * alpha are never needed again.
 *
 * At alpha edits, a pair is listed only if its labels are equal, or if it leads to such a pair: if labels
 * of their children are equal. The others, by far the most, are fillers. Listed pairs are found from the near
 * pairs, or from all nodes of the label, whichever are fewer.
 *
 * A leaf and a node of another label are listed only if they are nearer than the leaf's parent and that node. Since
 * a pair is at most one edit farther than that of either parent, such a pair comes from a pair of equal labels: for
 * a leaf v by inserting below w, for a leaf w by deleting below v.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "util/util.h"

#define FAR 255

struct row_maker {
        struct pairs *pairs;
        uint8_t *distance, *above; /* distance of the second tree's nodes to v, to its parent; FAR: not in the row */
        size_t cost;               /* cost of going through the parent's row, in nodes */
        /* Nodes of the second tree by label: like[first[label]] to before like[first[label + 1]]. */
        int32_t *first, *like;
        int32_t *first_inner, *inner; /* its node w's children that have children: from inner[first_inner[w]] on */
        uint64_t *below_a, *below_b; /* Bloom filters of the labels of each node's children */
};

static void row_maker_clear(struct row_maker *maker)
{
        free(maker->distance);
        free(maker->above);
        free(maker->first);
        free(maker->like);
        free(maker->first_inner);
        free(maker->inner);
        free(maker->below_a);
        free(maker->below_b);
}

static uint64_t filter_bit(int32_t label)
{
        return (uint64_t)1 << ((uint32_t)label * 0x9e3779b1U >> 26);
}

static void reach(struct row_maker *maker, int32_t w, int distance)
{
        if (maker->distance[w] == FAR)
                bitmap_set(&maker->pairs->marked, w);
        if (distance < maker->distance[w])
                maker->distance[w] = (uint8_t)distance;
}

static void reach_inner(struct row_maker *maker, int32_t w, int distance)
{
        for (int32_t i = maker->first_inner[w]; i < maker->first_inner[w + 1]; i++)
                reach(maker, maker->inner[i], distance);
}

/* The child of w with this label; -1: none. */
static int32_t find_like(const struct row_maker *maker, int32_t w, int32_t label)
{
        return maker->below_b[w] & filter_bit(label) ? tree_find(maker->pairs->b, w, label) : -1;
}

static bool have_common_label(const struct row_maker *maker, int32_t v, int32_t w)
{
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;

        if (!(maker->below_a[v] & maker->below_b[w]))
                return false;
        if (a->first[v + 1] - a->first[v] > b->first[w + 1] - b->first[w]) {
                for (int32_t i = b->first[w]; i < b->first[w + 1]; i++)
                        if (tree_find(a, v, b->label[b->child[i]]) >= 0)
                                return true;
                return false;
        }
        for (int32_t i = a->first[v]; i < a->first[v + 1]; i++)
                if (find_like(maker, w, a->label[a->child[i]]) >= 0)
                        return true;
        return false;
}

/* Reaches w at alpha edits from v, if children of the two have a label in common. */
static void reach_last(struct row_maker *maker, int32_t v, int32_t w)
{
        if (have_common_label(maker, v, w))
                reach(maker, w, maker->pairs->alpha);
}

static void reach_last_inner(struct row_maker *maker, int32_t v, int32_t w)
{
        for (int32_t i = maker->first_inner[w]; i < maker->first_inner[w + 1]; i++)
                reach_last(maker, v, maker->inner[i]);
}

/* Finds nodes of v's label: such a node is as far from v as its parent is from v's parent. */
static void find_equal_by_rows(struct row_maker *maker, int32_t v, int32_t parent)
{
        const struct candidates *rows = &maker->pairs->candidates;

        for (size_t i = rows->start[parent]; i < rows->stop[parent]; i++) {
                int32_t child = find_like(maker, rows->node[i], maker->pairs->a->label[v]);

                if (child >= 0)
                        reach(maker, child, rows->distance[i]);
        }
}

static void find_equal_by_labels(struct row_maker *maker, int32_t v)
{
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;
        const int32_t *first = &maker->first[a->label[v]];

        for (int32_t i = first[0]; i < first[1]; i++) {
                int32_t above = b->parent[maker->like[i]];

                if (above >= 0 && maker->above[above] != FAR)
                        reach(maker, maker->like[i], maker->above[above]);
        }
}

/* Finds nodes that are nearer to a leaf v than to its parent. The nodes of v's label are there already. */
static void find_nearer(struct row_maker *maker)
{
        struct pairs *pairs = maker->pairs;

        for (int32_t w = bitmap_next(&pairs->marked, 0); w >= 0; w = bitmap_next(&pairs->marked, w + 1)) {
                int distance = maker->distance[w] + 1;

                for (int32_t i = maker->first_inner[w]; distance < pairs->alpha && i < maker->first_inner[w + 1]; i++)
                        if (distance < maker->above[maker->inner[i]])
                                reach(maker, maker->inner[i], distance);
        }
}

/* The root never counts as a leaf, since nothing is above it. */
static bool is_leaf(const struct tree *tree, int32_t node)
{
        return node > 0 && tree->first[node] == tree->first[node + 1];
}

/* Finds nodes at less than alpha edits, by one more edit. The nodes of v's label are there already. */
static void find_near(struct row_maker *maker, int32_t parent)
{
        const struct tree *b = maker->pairs->b;
        struct pairs *pairs = maker->pairs;
        const struct candidates *rows = &pairs->candidates;

        for (size_t i = rows->start[parent]; i < rows->stop[parent]; i++) {
                if (rows->distance[i] + 1 >= pairs->alpha)
                        continue;
                if (!is_leaf(b, rows->node[i]) || rows->distance[i] < maker->above[b->parent[rows->node[i]]])
                        reach(maker, rows->node[i], rows->distance[i] + 1); /* v is deleted */
                reach_inner(maker, rows->node[i], rows->distance[i] + 1);   /* or matched to a child of another label */
        }
        for (int32_t w = bitmap_next(&pairs->marked, 0); w >= 0; w = bitmap_next(&pairs->marked, w + 1))
                if (maker->distance[w] + 1 < pairs->alpha)
                        reach_inner(maker, w, maker->distance[w] + 1); /* inserted; it comes later in this loop */
}

static void find_last_by_rows(struct row_maker *maker, int32_t v, int32_t parent)
{
        struct pairs *pairs = maker->pairs;
        const struct candidates *rows = &pairs->candidates;

        for (size_t i = rows->start[parent]; i < rows->stop[parent]; i++) {
                if (rows->distance[i] + 1 != pairs->alpha)
                        continue;
                reach_last(maker, v, rows->node[i]);
                reach_last_inner(maker, v, rows->node[i]);
        }
        for (int32_t w = bitmap_next(&pairs->marked, 0); w >= 0; w = bitmap_next(&pairs->marked, w + 1))
                if (maker->distance[w] + 1 == pairs->alpha)
                        reach_last_inner(maker, v, w);
}

static bool is_last(const struct row_maker *maker, int32_t w)
{
        int32_t above = maker->pairs->b->parent[w];
        int near = maker->pairs->alpha - 1;

        return maker->above[w] == near ||
               (above >= 0 && (maker->above[above] == near || maker->distance[above] == near));
}

static void find_last_by_labels(struct row_maker *maker, int32_t v)
{
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;

        for (int32_t x = a->first[v]; x < a->first[v + 1]; x++) {
                const int32_t *first = &maker->first[a->label[a->child[x]]];

                for (int32_t i = first[0]; i < first[1]; i++) {
                        int32_t above = b->parent[maker->like[i]];

                        if (above >= 0 && is_last(maker, above))
                                reach(maker, above, maker->pairs->alpha);
                }
        }
}

static size_t count_like(const struct row_maker *maker, int32_t label)
{
        return (size_t)(maker->first[label + 1] - maker->first[label]);
}

static bool is_by_labels(const struct row_maker *maker, int32_t v)
{
        const struct tree *a = maker->pairs->a;
        size_t nodes = count_like(maker, a->label[v]);

        for (int32_t i = a->first[v]; i < a->first[v + 1] && nodes < maker->cost; i++)
                nodes += count_like(maker, a->label[a->child[i]]);
        return nodes < maker->cost;
}

static int append(struct pairs *pairs, int32_t w, int distance)
{
        struct candidates *row = &pairs->candidates;

        /* Each pair gets a score. */
        if ((row->n + 1) * (sizeof(*row->node) + 1 + sizeof(struct score)) > pairs->limits->bytes)
                return -E2BIG;
        if (row->n + 1 > row->nodes && util_grow(&row->node, &row->nodes, row->n + 1, sizeof(*row->node)) < 0)
                return -ENOMEM;
        if (row->n + 1 > row->distances && util_grow(&row->distance, &row->distances, row->n + 1, 1) < 0)
                return -ENOMEM;
        row->node[row->n] = w;
        row->distance[row->n++] = (uint8_t)distance;
        return 0;
}

static void find(struct row_maker *maker, int32_t v, int32_t parent)
{
        bool by_labels = is_by_labels(maker, v);

        if (by_labels)
                find_equal_by_labels(maker, v);
        else
                find_equal_by_rows(maker, v, parent);
        if (is_leaf(maker->pairs->a, v)) {
                find_nearer(maker);
                return;
        }
        find_near(maker, parent);
        if (by_labels)
                find_last_by_labels(maker, v);
        else
                find_last_by_rows(maker, v, parent);
}

static void find_root(struct row_maker *maker)
{
        struct pairs *pairs = maker->pairs;

        reach(maker, 0, pairs->a->label[0] != pairs->b->label[0]);
        for (int32_t w = 0; w >= 0; w = bitmap_next(&pairs->marked, w + 1))
                if (maker->distance[w] < pairs->alpha)
                        reach_inner(maker, w, maker->distance[w] + 1);
}

static int make_row(struct row_maker *maker, int32_t v, int32_t parent)
{
        struct pairs *pairs = maker->pairs;
        int err = 0;

        if (parent < 0)
                find_root(maker);
        else
                find(maker, v, parent);
        pairs->candidates.start[v] = pairs->candidates.n;
        for (int32_t w = bitmap_next(&pairs->marked, 0); w >= 0; w = bitmap_next(&pairs->marked, w + 1)) {
                if (err == 0 && maker->distance[w] <= pairs->alpha)
                        err = append(pairs, w, maker->distance[w]);
                maker->distance[w] = FAR;
                bitmap_unset(&pairs->marked, w);
        }
        pairs->candidates.stop[v] = pairs->candidates.n;
        return err;
}

/* Makes the rows of v's children from the row of v. */
static int make_children(struct row_maker *maker, int32_t v)
{
        struct candidates *rows = &maker->pairs->candidates;
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;
        int err = 0;

        maker->cost = 0;
        for (size_t i = rows->start[v]; i < rows->stop[v]; i++) {
                int32_t w = rows->node[i];

                maker->above[w] = rows->distance[i];
                maker->cost += 2 + (rows->distance[i] + 1 == maker->pairs->alpha ?
                                            (size_t)(b->first[w + 1] - b->first[w]) :
                                            0);
        }
        for (int32_t i = a->first[v]; err == 0 && i < a->first[v + 1]; i++)
                err = make_row(maker, a->child[i], v);
        for (size_t i = rows->start[v]; i < rows->stop[v]; i++)
                maker->above[rows->node[i]] = FAR;
        return err;
}

static int make_filter(const struct tree *tree, uint64_t **ret)
{
        uint64_t *below = calloc((size_t)tree->n, sizeof(*below));

        if (!below)
                return -ENOMEM;
        for (int32_t i = 1; i < tree->n; i++)
                below[tree->parent[i]] |= filter_bit(tree->label[i]);
        *ret = below;
        return 0;
}

static int list_inner(struct row_maker *maker)
{
        const struct tree *b = maker->pairs->b;
        int32_t n = 0;

        maker->first_inner = calloc((size_t)b->n + 1, sizeof(*maker->first_inner));
        maker->inner = calloc((uint32_t)b->n, sizeof(*maker->inner));
        if (!maker->first_inner || !maker->inner)
                return -ENOMEM;
        for (int32_t w = 0; w < b->n; w++) {
                for (int32_t i = b->first[w]; i < b->first[w + 1]; i++)
                        if (!is_leaf(b, b->child[i]))
                                maker->inner[n++] = b->child[i];
                maker->first_inner[w + 1] = n;
        }
        return 0;
}

static int list_by_label(struct row_maker *maker)
{
        const struct tree *a = maker->pairs->a, *b = maker->pairs->b;
        int32_t labels = 0, *first;

        for (int32_t i = 0; i < a->n; i++)
                labels = MAX(labels, a->label[i] + 1);
        for (int32_t i = 0; i < b->n; i++)
                labels = MAX(labels, b->label[i] + 1);
        maker->first = first = calloc((size_t)labels + 2, sizeof(*first));
        maker->like = malloc((size_t)b->n * sizeof(*maker->like));
        if (!first || !maker->like)
                return -ENOMEM;
        for (int32_t i = 0; i < b->n; i++)
                first[b->label[i] + 2]++;
        for (int32_t i = 0; i < labels; i++)
                first[i + 2] += first[i + 1];
        for (int32_t i = 0; i < b->n; i++)
                maker->like[first[b->label[i] + 1]++] = i;
        return 0;
}

int candidates_find(struct pairs *pairs)
{
        _cleanup_(row_maker_clear) struct row_maker maker = { .pairs = pairs };
        size_t n = (size_t)pairs->b->n;
        int err;

        maker.distance = malloc(n);
        maker.above = malloc(n);
        pairs->candidates.start = calloc((size_t)pairs->a->n, sizeof(*pairs->candidates.start));
        pairs->candidates.stop = calloc((size_t)pairs->a->n, sizeof(*pairs->candidates.stop));
        if (!maker.distance || !maker.above || !pairs->candidates.start || !pairs->candidates.stop ||
            make_filter(pairs->a, &maker.below_a) < 0 || make_filter(pairs->b, &maker.below_b) < 0 ||
            list_by_label(&maker) < 0 || list_inner(&maker) < 0)
                return -ENOMEM;
        memset(maker.distance, FAR, n);
        memset(maker.above, FAR, n);
        err = make_row(&maker, 0, -1);
        for (int32_t v = 0; err == 0 && v < pairs->a->n; v++)
                err = make_children(&maker, v);
        return err;
}
