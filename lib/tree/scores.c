/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What each pair of subtrees can score, from the leaves up. For v and w:
 *
 *   forest(v, w) = the greatest of: forest(v, y) for a child y of w; forest(x, w) for a child x of v;
 *                  the best assignment of the children of v to those of w by tree(x, y)
 *   tree(v, w)   = the greatest of: tree(v, y); tree(x, w); forest(v, w) + the score of (v, w), 0 if it may not be matched
 *
 * A pair needs a row if a scoring pair is in its subtrees: also those that may not be matched themselves, since two of
 * their children may.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "util/util.h"

/* Over the nodes w of the second tree, while the row of one v is made. */
struct work {
        int64_t tree, forest;
        int32_t edges; /* the last of a list: an assignment of children that ends here */
};

struct listed {
        int32_t x, y, next;
        int64_t weight;
};

struct maker {
        struct pairs *pairs;
        struct work *work;
        struct listed *edge;
        size_t n, capacity;
};

static void maker_clear(struct maker *maker)
{
        free(maker->work);
        free(maker->edge);
}

static int append(struct pairs *pairs, int32_t w, int64_t tree, int64_t forest)
{
        struct scores *rows = &pairs->scores;

        if ((rows->n + 1) * (sizeof(*rows->node) + 2 * sizeof(*rows->tree)) + pairs->candidates.n * 5 > pairs->limits->bytes)
                return -E2BIG;
        if ((rows->n >= rows->nodes && util_grow(&rows->node, &rows->nodes, rows->n + 1, sizeof(*rows->node)) < 0) ||
            (rows->n >= rows->trees && util_grow(&rows->tree, &rows->trees, rows->n + 1, sizeof(*rows->tree)) < 0) ||
            (rows->n >= rows->forests && util_grow(&rows->forest, &rows->forests, rows->n + 1, sizeof(*rows->forest)) < 0))
                return -ENOMEM;
        rows->node[rows->n] = w;
        rows->tree[rows->n] = tree;
        rows->forest[rows->n++] = forest;
        return 0;
}

/* What a child's row says about v's. */
static int take_child(struct maker *maker, int32_t x)
{
        struct pairs *pairs = maker->pairs;
        const struct scores *rows = &pairs->scores;

        for (size_t i = rows->start[x]; i < rows->stop[x]; i++) {
                int32_t y = rows->node[i], parent = pairs->b->parent[y];
                struct work *work = &maker->work[y];

                work->tree = MAX(work->tree, rows->tree[i]);
                work->forest = MAX(work->forest, rows->forest[i]);
                bitmap_set(&pairs->marked, y);
                if (parent < 0)
                        continue;
                if (maker->n >= maker->capacity &&
                    util_grow(&maker->edge, &maker->capacity, maker->n + 1, sizeof(*maker->edge)) < 0)
                        return -ENOMEM;
                maker->edge[maker->n] = (struct listed){ x, y, maker->work[parent].edges, rows->tree[i] };
                maker->work[parent].edges = (int32_t)maker->n++;
        }
        return 0;
}

static int64_t assignment(struct maker *maker, int32_t w, int64_t enough)
{
        struct assign *assign = &maker->pairs->assign;
        int32_t at = maker->work[w].edges;

        if (at < 0 || maker->edge[at].next < 0)
                return at < 0 ? 0 : maker->edge[at].weight;
        assign->n = 0;
        for (; at >= 0; at = maker->edge[at].next) {
                const struct listed *edge = &maker->edge[at];

                if (assign->n >= maker->pairs->limits->edges)
                        return -E2BIG;
                if (assign_add(assign, edge->x, edge->y, edge->weight) < 0)
                        return -ENOMEM;
        }
        return assign_value(assign, enough);
}

static void mark_candidates(struct pairs *pairs, int32_t v)
{
        const struct candidates *rows = &pairs->candidates;

        for (size_t i = rows->start[v]; i < rows->start[v + 1]; i++)
                if (pair_score(pairs, v, rows->node[i], rows->distance[i]) > 0)
                        bitmap_set(&pairs->marked, rows->node[i]);
}

/* @candidate: the last candidate that is not above w, going down with w. */
static int make_pair(struct maker *maker, int32_t v, int32_t w, size_t *candidate)
{
        struct pairs *pairs = maker->pairs;
        const struct candidates *rows = &pairs->candidates;
        struct work *work = &maker->work[w], *above = w > 0 ? &maker->work[pairs->b->parent[w]] : NULL;
        int64_t forest = assignment(maker, w, work->forest), tree;

        if (forest < 0)
                return (int)forest;
        forest = MAX(forest, work->forest);
        tree = forest;
        while (*candidate > rows->start[v] && rows->node[*candidate - 1] > w)
                --*candidate;
        if (*candidate > rows->start[v] && rows->node[*candidate - 1] == w)
                tree += pair_score(pairs, v, w, rows->distance[*candidate - 1]);
        tree = MAX(tree, work->tree);
        if (above) {
                above->tree = MAX(above->tree, tree);
                above->forest = MAX(above->forest, forest);
                bitmap_set(&pairs->marked, pairs->b->parent[w]);
        }
        return append(pairs, w, tree, forest);
}

static int make_row(struct maker *maker, int32_t v)
{
        struct pairs *pairs = maker->pairs;
        const struct tree *a = pairs->a;
        size_t candidate = pairs->candidates.start[v + 1];
        int err = 0;

        maker->n = 0;
        for (int32_t i = a->first[v]; err == 0 && i < a->first[v + 1]; i++)
                err = take_child(maker, a->child[i]);
        mark_candidates(pairs, v);
        pairs->scores.start[v] = pairs->scores.n;
        for (int32_t w = bitmap_last(&pairs->marked); w >= 0; w = bitmap_last(&pairs->marked)) {
                if (err == 0)
                        err = make_pair(maker, v, w, &candidate);
                maker->work[w] = (struct work){ .edges = -1 };
                bitmap_unset(&pairs->marked, w);
        }
        if (a->n > 0 && pairs->b->n > 0) /* a row may have edges to parents that it did not come to after an error */
                pairs->scores.stop[v] = pairs->scores.n;
        return err;
}

int scores_find(struct pairs *pairs)
{
        _cleanup_(maker_clear) struct maker maker = { .pairs = pairs };
        size_t n = (size_t)pairs->a->n;
        int err = 0;

        pairs->scores.start = calloc(n, sizeof(*pairs->scores.start));
        pairs->scores.stop = calloc(n, sizeof(*pairs->scores.stop));
        maker.work = calloc((size_t)pairs->b->n, sizeof(*maker.work));
        if (!pairs->scores.start || !pairs->scores.stop || !maker.work)
                return -ENOMEM;
        for (int32_t w = 0; w < pairs->b->n; w++)
                maker.work[w].edges = -1;
        for (int32_t v = pairs->a->n - 1; err == 0 && v >= 0; v--)
                err = make_row(&maker, v);
        return err;
}
