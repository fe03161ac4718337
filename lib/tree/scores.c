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
 * their children may. A pair that has no row, since only fillers are in its subtrees, has the tree of one filler, and no forest.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "trie.h"
#include "util/util.h"

static_assert(TRIE_NODES_MAX < 1 << SCORE_DISTANCE && MATCH_ALPHA_MAX < DISTANCE_NONE, "a pair's node and distance fit");
static_assert((int64_t)TRIE_NODES_MAX < (int64_t)1 << SCORE_SHIFT, "the number of pairs fits");

/* Over the nodes w of the second tree, while the row of one v is made. */
struct work {
        int64_t tree, forest;
        int32_t edges; /* the last of a list: an assignment of children that ends here */
        uint32_t marks; /* SCORE_ROWS, SCORE_COLUMNS */
};

struct listed {
        int32_t x, y; /* -1: goes with any */
        int64_t weight;
        int32_t next;
};

enum near {
        NEAR_OWN = 1,    /* near v */
        NEAR_PARENT = 2, /* near v's parent */
};

struct maker {
        struct pairs *pairs;
        struct work *work;
        uint8_t *near; /* over the nodes of the second tree */
        int32_t parent; /* whose near nodes are there; -1: none */
        struct listed *edge;
        size_t n, capacity;
};

static void maker_clear(struct maker *maker)
{
        free(maker->work);
        free(maker->near);
        free(maker->edge);
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

static int append(struct pairs *pairs, struct score score, int64_t tree, int64_t forest)
{
        struct scores *rows = &pairs->scores;

        if ((rows->n + 1) * sizeof(*rows->pair) + rows->n_wide * sizeof(*rows->wide) + pairs->candidates.n * 5 >
            pairs->limits->bytes)
                return -E2BIG;
        if ((rows->n >= rows->capacity && util_grow(&rows->pair, &rows->capacity, rows->n + 1, sizeof(*rows->pair)) < 0) ||
            pack(rows, tree, &score.tree) < 0 || pack(rows, forest, &score.forest) < 0)
                return -ENOMEM;
        rows->pair[rows->n++] = score;
        return 0;
}

static int list(struct maker *maker, int32_t w, int32_t x, int32_t y, int64_t weight)
{
        if (maker->n >= maker->capacity && util_grow(&maker->edge, &maker->capacity, maker->n + 1, sizeof(*maker->edge)) < 0)
                return -ENOMEM;
        maker->edge[maker->n] = (struct listed){ x, y, weight, maker->work[w].edges };
        maker->work[w].edges = (int32_t)maker->n++;
        return 0;
}

/* What a child's row says about v's. Where each child goes with any, edges weigh what is above the filler. */
static int take_child(struct maker *maker, int32_t x)
{
        struct pairs *pairs = maker->pairs;
        const struct scores *rows = &pairs->scores;
        const struct tree *b = pairs->b;

        for (size_t i = rows->start[x]; i < rows->stop[x]; i++) {
                const struct score *score = &rows->pair[i];
                int32_t y = score_node(score), parent = b->parent[y];
                struct work *work = &maker->work[y];
                int64_t tree = score_value(rows, score->tree);

                work->tree = MAX(work->tree, tree);
                work->forest = MAX(work->forest, score_value(rows, score->forest));
                bitmap_set(&pairs->marked, y);
                work->marks |= score->place & SCORE_ROWS;
                if (score->place & SCORE_ROWS && !(maker->near[y] & NEAR_OWN) && b->end[y] > y + 1 &&
                    list(maker, y, x, -1, pairs->filler) < 0)
                        return -ENOMEM;
                if (parent < 0)
                        continue;
                if (maker->near[parent] & NEAR_OWN)
                        tree -= pairs->filler;
                if (tree > 0 && list(maker, parent, x, y, tree) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Of a list: the sum of each row's greatest edge; no assignment is better. */
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

static int64_t assignment(struct maker *maker, int32_t v, int32_t w, int64_t enough)
{
        struct bipartite *bipartite = &maker->pairs->bipartite;
        bool all = maker->near[w] & NEAR_OWN;
        int64_t base = all ? bipartite_base(bipartite, v, w) : 0, most;
        int32_t at = maker->work[w].edges;
        int err = 0;

        if (at < 0)
                return base;
        most = base + (maker->edge[at].next < 0 ? maker->edge[at].weight : bound(maker, at));
        if (most <= enough || maker->edge[at].next < 0)
                return most;
        bipartite_begin(bipartite, v, w, all);
        for (; err == 0 && at >= 0; at = maker->edge[at].next) {
                const struct listed *edge = &maker->edge[at];

                if (edge->x < 0)
                        err = bipartite_add_column(bipartite, edge->y);
                else if (edge->y < 0)
                        err = bipartite_add_row(bipartite, edge->x);
                else
                        err = bipartite_add(bipartite, edge->x, edge->y, edge->weight + (all ? maker->pairs->filler : 0));
        }
        return err < 0 ? err : bipartite_value(bipartite, enough);
}

/* Pairs whose rows this one needs: those that score. */
static void mark_candidates(struct pairs *pairs, int32_t v)
{
        const struct candidates *rows = &pairs->candidates;

        for (size_t i = rows->start[v]; i < rows->stop[v]; i++)
                if (pair_score(pairs, v, rows->node[i], rows->distance[i]) > 0)
                        bitmap_set(&pairs->marked, rows->node[i]);
}

/* @candidate: the last candidate that is not above w, going down with w. */
static int distance_of(const struct maker *maker, int32_t v, int32_t w, size_t *candidate)
{
        const struct pairs *pairs = maker->pairs;
        const struct candidates *rows = &pairs->candidates;
        int32_t above = pairs->b->parent[w];

        while (*candidate > rows->start[v] && rows->node[*candidate - 1] > w)
                --*candidate;
        if (*candidate > rows->start[v] && rows->node[*candidate - 1] == w)
                return rows->distance[*candidate - 1];
        if (maker->near[w] & NEAR_PARENT || (above >= 0 && maker->near[above]))
                return pairs->alpha;
        return DISTANCE_NONE;
}

static int make_pair(struct maker *maker, int32_t v, int32_t w, size_t *candidate)
{
        struct pairs *pairs = maker->pairs;
        const struct tree *a = pairs->a, *b = pairs->b;
        struct work *work = &maker->work[w], *above = w > 0 ? &maker->work[b->parent[w]] : NULL;
        int64_t forest = assignment(maker, v, w, work->forest), tree;
        int distance = distance_of(maker, v, w, candidate);
        uint32_t marks = work->marks | (maker->near[w] & NEAR_OWN ? SCORE_ROWS | SCORE_COLUMNS : 0);
        struct score score = { .place = (uint32_t)w | (uint32_t)distance << SCORE_DISTANCE | marks };

        if (forest < 0)
                return (int)forest;
        forest = MAX(forest, work->forest);
        tree = MAX(work->tree, forest + pair_score(pairs, v, w, distance));
        if (above) {
                above->tree = MAX(above->tree, tree);
                above->forest = MAX(above->forest, forest);
                above->marks |= marks & SCORE_COLUMNS;
                bitmap_set(&pairs->marked, b->parent[w]);
                if (marks & SCORE_COLUMNS && !(maker->near[b->parent[w]] & NEAR_OWN) && a->end[v] > v + 1 &&
                    list(maker, b->parent[w], -1, w, pairs->filler) < 0)
                        return -ENOMEM;
        }
        return append(pairs, score, tree, forest);
}

static void set_near(struct maker *maker, int32_t v, uint8_t bit, bool on)
{
        const struct candidates *rows = &maker->pairs->candidates;
        uint8_t keep = (uint8_t)~bit, set = on ? bit : 0;

        for (size_t i = rows->start[v]; i < rows->stop[v]; i++)
                if (rows->distance[i] < maker->pairs->alpha)
                        maker->near[rows->node[i]] = (uint8_t)((maker->near[rows->node[i]] & keep) | set);
}

/* Which nodes are near v and its parent. Without fillers it does not matter. */
static void look_near(struct maker *maker, int32_t v)
{
        int32_t parent = maker->pairs->a->parent[v];

        if (maker->pairs->filler == 0)
                return;
        if (maker->parent != parent && maker->parent >= 0)
                set_near(maker, maker->parent, NEAR_PARENT, false);
        if (maker->parent != parent && parent >= 0)
                set_near(maker, parent, NEAR_PARENT, true);
        maker->parent = parent;
        set_near(maker, v, NEAR_OWN, true);
}

static int make_row(struct maker *maker, int32_t v)
{
        struct pairs *pairs = maker->pairs;
        const struct tree *a = pairs->a;
        size_t candidate = pairs->candidates.stop[v];
        int32_t w;
        int err = 0;

        maker->n = 0;
        look_near(maker, v);
        for (int32_t i = a->first[v]; err == 0 && i < a->first[v + 1]; i++)
                err = take_child(maker, a->child[i]);
        mark_candidates(pairs, v);
        pairs->scores.start[v] = pairs->scores.n;
        for (w = bitmap_last(&pairs->marked, pairs->b->n - 1); err == 0 && w >= 0; w = bitmap_last(&pairs->marked, w - 1)) {
                err = make_pair(maker, v, w, &candidate);
                maker->work[w] = (struct work){ .edges = -1 };
                bitmap_unset(&pairs->marked, w);
        }
        pairs->scores.stop[v] = pairs->scores.n;
        if (pairs->filler > 0)
                set_near(maker, v, NEAR_OWN, false);
        return err;
}

int scores_find(struct pairs *pairs)
{
        _cleanup_(maker_clear) struct maker maker = { .pairs = pairs, .parent = -1 };
        size_t n = (size_t)pairs->a->n;
        int err = 0;

        pairs->scores.start = calloc(n, sizeof(*pairs->scores.start));
        pairs->scores.stop = calloc(n, sizeof(*pairs->scores.stop));
        maker.work = calloc((size_t)pairs->b->n, sizeof(*maker.work));
        maker.near = calloc((size_t)pairs->b->n, 1);
        if (!pairs->scores.start || !pairs->scores.stop || !maker.work || !maker.near)
                return -ENOMEM;
        for (int32_t w = 0; w < pairs->b->n; w++)
                maker.work[w].edges = -1;
        for (int32_t i = pairs->a->n - 2; err == 0 && i >= 0; i--) /* children of one node stand together */
                err = make_row(&maker, pairs->a->child[i]);
        return err < 0 ? err : make_row(&maker, 0);
}
