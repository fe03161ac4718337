/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the greatest score of each pair of subtrees, from the leaves up. For v and w:
 *
 *   forest(v, w) = the greatest of: forest(v, y) for a child y of w; forest(x, w) for a child x of v;
 *                  the best assignment of the children of v to those of w by tree(x, y)
 *   tree(v, w)   = the greatest of: tree(v, y); tree(x, w); forest(v, w) + the score of (v, w), 0 if it may
 *   not be matched
 *
 * A pair needs a row if a scoring pair is in its subtrees: also those that may not be matched themselves, since two of
 * their children may. A pair that has no row, since only fillers are in its subtrees, has the tree of one
 * filler, and no forest.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "pairs.h"
#include "trie.h"
#include "util/util.h"

static_assert(TRIE_NODES_MAX < 1 << SCORE_DISTANCE && MATCH_ALPHA_MAX < DISTANCE_NONE,
              "a pair's node and distance fit");
static_assert((int64_t)TRIE_NODES_MAX < (int64_t)1 << SCORE_SHIFT, "the number of pairs fits");

/* State of each node w of the second tree, while the row of one v is made. */
struct work {
        int64_t tree, forest;
        int32_t edges;         /* last edge of a list: those between the children of v and w; -1: none */
        int32_t parent, width; /* w's parent and number of children, which are always set */
        uint8_t distance;      /* DISTANCE_NONE: not listed */
        uint8_t near_parent;   /* w is near v's parent */
        bool rows, columns;    /* SCORE_ROWS, SCORE_COLUMNS */
};

struct listed {
        int32_t x, y; /* -1: goes with any */
        int64_t weight;
        int32_t next;
};

struct maker {
        struct pairs *pairs;
        struct work *work;
        int32_t parent; /* the node for which @near_parent is set; -1: none */
        int32_t width;  /* number of v's children */
        struct listed *edge;
        size_t n, capacity;
};

static void maker_clear(struct maker *maker)
{
        free(maker->work);
        free(maker->edge);
}

static size_t bytes(const struct pairs *pairs)
{
        const struct scores *scores = &pairs->scores;

        return scores->n * sizeof(*scores->pair) + scores->n_wide * sizeof(*scores->wide) +
               pairs->candidates.n * (sizeof(*pairs->candidates.node) + sizeof(*pairs->candidates.distance));
}

static int pack(struct scores *scores, int64_t value, uint32_t *ret)
{
        uint32_t n = (uint32_t)value & ((1U << SCORE_SHIFT) - 1);

        if (n < 1U << SCORE_SMALL) {
                *ret = (uint32_t)(value >> SCORE_SHIFT) << SCORE_SMALL | n;
                return 0;
        }
        if (scores->n_wide >= scores->wides &&
            util_grow(&scores->wide, &scores->wides, scores->n_wide + 1, sizeof(*scores->wide)) < 0)
                return -ENOMEM;
        *ret = (uint32_t)scores->n_wide | SCORE_WIDE;
        scores->wide[scores->n_wide++] = value;
        return 0;
}

static int append(struct pairs *pairs, uint32_t place, int64_t tree, int64_t forest)
{
        struct scores *rows = &pairs->scores;
        struct score score = { .place = place };

        if ((rows->n >= rows->capacity &&
             util_grow(&rows->pair, &rows->capacity, rows->n + 1, sizeof(*rows->pair)) < 0) ||
            pack(rows, tree, &score.tree) < 0 || pack(rows, forest, &score.forest) < 0)
                return -ENOMEM;
        rows->pair[rows->n++] = score;
        return 0;
}

static int list(struct maker *maker, int32_t w, int32_t x, int32_t y, int64_t weight)
{
        if (maker->n / 2 >= maker->pairs->limits->edges)
                return -E2BIG;
        if (maker->n >= maker->capacity &&
            util_grow(&maker->edge, &maker->capacity, maker->n + 1, sizeof(*maker->edge)) < 0)
                return -ENOMEM;
        maker->edge[maker->n] = (struct listed){ x, y, weight, maker->work[w].edges };
        maker->work[w].edges = (int32_t)maker->n++;
        return 0;
}

/* Adds a child's row to the row of v. Where each child goes with any, an edge weighs its excess over the filler. */
static int take_child(struct maker *maker, int32_t x)
{
        struct pairs *pairs = maker->pairs;
        const struct scores *rows = &pairs->scores;
        int err = 0;

        for (size_t i = rows->start[x]; err == 0 && i < rows->stop[x]; i++) {
                const struct score *score = &rows->pair[i];
                int32_t y = score_node(score);
                struct work *work = &maker->work[y];
                int64_t tree = score_value(rows, score->tree), forest = score_value(rows, score->forest);

                work->tree = MAX(work->tree, tree);
                work->forest = MAX(work->forest, forest);
                bitmap_set(&pairs->marked, y);
                if (score->place & SCORE_ROWS) {
                        work->rows = true;
                        if (work->distance >= maker->pairs->alpha && work->width > 0)
                                err = list(maker, y, x, -1, pairs->filler);
                }
                if (work->parent < 0 || err < 0)
                        continue;
                if (maker->work[work->parent].distance < maker->pairs->alpha)
                        tree -= pairs->filler;
                if (tree > 0)
                        err = list(maker, work->parent, x, y, tree);
        }
        return err;
}

/* An upper bound of the assignment of a list of edges: the sum of each row's greatest edge. */
static int64_t bound(const struct maker *maker, int32_t at)
{
        int64_t sum = 0, best = 0;

        for (; at >= 0; at = maker->edge[at].next) {
                const struct listed *edge = &maker->edge[at];

                best = MAX(best, edge->weight);
                if (edge->next < 0 || edge->x < 0 || maker->edge[edge->next].x != edge->x) {
                        sum += best;
                        best = 0;
                }
        }
        return sum;
}

static int64_t assignment(struct maker *maker, int32_t v, int32_t w)
{
        struct bipartite *bipartite = &maker->pairs->bipartite;
        const struct work *work = &maker->work[w];
        bool all = work->distance < maker->pairs->alpha;
        int64_t most = all ? MIN(maker->width, work->width) * maker->pairs->filler : 0;
        int32_t at = work->edges;
        int err = 0;

        if (at < 0)
                return most;
        most += maker->edge[at].next < 0 ? maker->edge[at].weight : bound(maker, at);
        if (most <= work->forest || maker->edge[at].next < 0)
                return most;
        bipartite_begin(bipartite, v, w, all);
        for (; err == 0 && at >= 0; at = maker->edge[at].next) {
                const struct listed *edge = &maker->edge[at];

                if (edge->x < 0)
                        err = bipartite_add_column(bipartite, edge->y);
                else if (edge->y < 0)
                        err = bipartite_add_row(bipartite, edge->x);
                else
                        err = bipartite_add(bipartite, edge->x, edge->y,
                                            edge->weight + (all ? maker->pairs->filler : 0));
        }
        return err < 0 ? err : bipartite_value(bipartite, work->forest);
}

static void look_at_candidates(struct maker *maker, int32_t v)
{
        struct pairs *pairs = maker->pairs;
        const struct candidates *rows = &pairs->candidates;

        for (size_t i = rows->start[v]; i < rows->stop[v]; i++) {
                maker->work[rows->node[i]].distance = rows->distance[i];
                bitmap_set(&pairs->marked, rows->node[i]);
        }
}

static int distance_of(const struct maker *maker, const struct work *work)
{
        const struct work *above = work->parent >= 0 ? &maker->work[work->parent] : NULL;

        if (work->distance != DISTANCE_NONE)
                return work->distance;
        return work->near_parent || (above && (above->near_parent || above->distance < maker->pairs->alpha)) ?
                       maker->pairs->alpha :
                       DISTANCE_NONE;
}

static int make_pair(struct maker *maker, int32_t v, int32_t w)
{
        struct pairs *pairs = maker->pairs;
        struct work *work = &maker->work[w], *above = work->parent >= 0 ? &maker->work[work->parent] : NULL;
        bool near = work->distance < maker->pairs->alpha;
        int64_t forest = assignment(maker, v, w), tree;
        int distance = distance_of(maker, work);
        uint32_t place = (uint32_t)w | (uint32_t)distance << SCORE_DISTANCE;
        int err = 0;

        if (forest < 0)
                return (int)forest;
        forest = MAX(forest, work->forest);
        tree = MAX(work->tree, forest + pair_score(pairs, v, w, distance));
        place |= (near || work->rows ? SCORE_ROWS : 0) | (near || work->columns ? SCORE_COLUMNS : 0);
        if (above) {
                above->tree = MAX(above->tree, tree);
                above->forest = MAX(above->forest, forest);
                above->columns |= (place & SCORE_COLUMNS) > 0;
                bitmap_set(&pairs->marked, work->parent);
                if (place & SCORE_COLUMNS && above->distance >= maker->pairs->alpha && maker->width > 0)
                        err = list(maker, work->parent, -1, w, pairs->filler);
        }
        return err < 0 ? err : append(pairs, place, tree, forest);
}

static void set_near_parent(struct maker *maker, int32_t parent, bool near)
{
        const struct candidates *rows = &maker->pairs->candidates;

        for (size_t i = parent < 0 ? 0 : rows->start[parent]; parent >= 0 && i < rows->stop[parent]; i++)
                if (rows->distance[i] < maker->pairs->alpha)
                        maker->work[rows->node[i]].near_parent = near;
}

static int make_row(struct maker *maker, int32_t v)
{
        struct pairs *pairs = maker->pairs;
        const struct tree *a = pairs->a;
        int32_t w;
        int err = 0;

        if (maker->parent != a->parent[v]) {
                set_near_parent(maker, maker->parent, false);
                set_near_parent(maker, a->parent[v], true);
                maker->parent = a->parent[v];
        }
        maker->width = a->first[v + 1] - a->first[v];
        maker->n = 0;
        look_at_candidates(maker, v);
        for (int32_t i = a->first[v]; err == 0 && i < a->first[v + 1]; i++)
                err = take_child(maker, a->child[i]);
        pairs->scores.start[v] = pairs->scores.n;
        for (w = bitmap_last(&pairs->marked, pairs->b->n - 1); err == 0 && w >= 0;
             w = bitmap_last(&pairs->marked, w - 1)) {
                struct work *work = &maker->work[w];

                err = make_pair(maker, v, w);
                work->tree = work->forest = 0;
                work->edges = -1;
                work->distance = DISTANCE_NONE;
                work->rows = work->columns = false;
                bitmap_unset(&pairs->marked, w);
        }
        pairs->scores.stop[v] = pairs->scores.n;
        return err == 0 && bytes(pairs) > pairs->limits->bytes ? -E2BIG : err;
}

int scores_find(struct pairs *pairs)
{
        _cleanup_(maker_clear) struct maker maker = { .pairs = pairs, .parent = -1 };
        const struct tree *b = pairs->b;
        size_t n = (size_t)pairs->a->n;
        int err = 0;

        pairs->scores.start = calloc(n, sizeof(*pairs->scores.start));
        pairs->scores.stop = calloc(n, sizeof(*pairs->scores.stop));
        maker.work = calloc((size_t)b->n, sizeof(*maker.work));
        if (!pairs->scores.start || !pairs->scores.stop || !maker.work)
                return -ENOMEM;
        for (int32_t w = 0; w < b->n; w++)
                maker.work[w] = (struct work){ .edges = -1,
                                               .parent = b->parent[w],
                                               .width = b->first[w + 1] - b->first[w],
                                               .distance = DISTANCE_NONE };
        for (int32_t i = pairs->a->n - 2; err == 0 && i >= 0; i--) /* children of one node are consecutive */
                err = make_row(&maker, pairs->a->child[i]);
        return err < 0 ? err : make_row(&maker, 0);
}
