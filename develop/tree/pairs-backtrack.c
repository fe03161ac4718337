/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the pairs that make the greatest score, from the roots down along the choices that it came from. */

#include <errno.h>
#include <stdlib.h>

#include "pairs.h"
#include "util/util.h"

struct step {
        int32_t v, w;
        bool forest; /* without v and w */
};

struct walk {
        struct pairs *pairs;
        struct match *match;
        struct step *step;
        size_t n, capacity;
};

static void walk_clear(struct walk *walk)
{
        free(walk->step);
}

static int push(struct walk *walk, int32_t v, int32_t w, bool forest)
{
        if (walk->n >= walk->capacity && util_grow(&walk->step, &walk->capacity, walk->n + 1, sizeof(*walk->step)) < 0)
                return -ENOMEM;
        walk->step[walk->n++] = (struct step){ v, w, forest };
        return 0;
}

/* The index of the first node of a row that is at most @w; rows descend. */
static size_t place(const struct scores *rows, int32_t v, int32_t w)
{
        size_t low = rows->start[v], high = rows->stop[v];

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (score_node(&rows->pair[middle]) > w)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* NULL: the pair has no row. */
static const struct score *find(const struct walk *walk, int32_t v, int32_t w)
{
        const struct scores *rows = &walk->pairs->scores;
        size_t at = place(rows, v, w);

        return at < rows->stop[v] && score_node(&rows->pair[at]) == w ? &rows->pair[at] : NULL;
}

static int64_t value(const struct walk *walk, int32_t v, int32_t w, bool forest)
{
        const struct score *score = find(walk, v, w);

        return score ? score_value(&walk->pairs->scores, forest ? score->forest : score->tree) : 0;
}

static bool is_near(const struct walk *walk, int32_t v, int32_t w)
{
        const struct score *score = find(walk, v, w);

        return score && score_distance(score) < walk->pairs->alpha;
}

/* Goes on with the child that the score came from alone. */
static int descend(struct walk *walk, const struct step *step, int64_t score)
{
        const struct tree *a = walk->pairs->a, *b = walk->pairs->b;

        for (int32_t i = a->first[step->v]; i < a->first[step->v + 1]; i++)
                if (value(walk, a->child[i], step->w, step->forest) == score)
                        return push(walk, a->child[i], step->w, step->forest);
        for (int32_t i = b->first[step->w]; i < b->first[step->w + 1]; i++)
                if (value(walk, step->v, b->child[i], step->forest) == score)
                        return push(walk, step->v, b->child[i], step->forest);
        return 0;
}

/* DISTANCE_NONE: the pair may not be matched, or is not known to. */
static int known_distance(const struct walk *walk, int32_t v, int32_t w)
{
        const struct score *score = v >= 0 && w >= 0 ? find(walk, v, w) : NULL;

        return score ? score_distance(score) : DISTANCE_NONE;
}

/*
 * The distance of a pair that may be matched. A pair of different labels may have no row, as if one node is a leaf: its
 * distance then comes from the pairs above.
 */
static int distance_of(const struct walk *walk, int32_t v, int32_t w)
{
        const struct tree *a = walk->pairs->a, *b = walk->pairs->b;
        int distance = known_distance(walk, v, w);

        if (a->label[v] == b->label[w])
                return distance;
        for (int i = 1; i < 4; i++) {
                int above = known_distance(walk, i & 1 ? a->parent[v] : v, i & 2 ? b->parent[w] : w);

                distance = MIN(distance, above + 1);
        }
        return distance;
}

static void match_pair(struct walk *walk, int32_t v, int32_t w)
{
        int distance = distance_of(walk, v, w);

        walk->match->partner[v] = w;
        walk->match->distance[v] = (uint8_t)distance;
        walk->match->matched++;
        walk->match->score += pair_score(walk->pairs, v, w, distance) >> SCORE_SHIFT;
}

static bool is_marked(const struct walk *walk, int32_t v, int32_t w, uint32_t mark)
{
        const struct score *score = find(walk, v, w);

        return score && score->place & mark;
}

/* The node in v's subtree that is near w; SCORE_ROWS tells that there is one. */
static int32_t near_below_v(const struct walk *walk, int32_t v, int32_t w)
{
        const struct tree *a = walk->pairs->a;

        while (!is_near(walk, v, w))
                for (int32_t i = a->first[v], end = a->first[v + 1]; i < end; i++)
                        if (is_marked(walk, a->child[i], w, SCORE_ROWS)) {
                                v = a->child[i];
                                break;
                        }
        return v;
}

static int32_t near_below_w(const struct walk *walk, int32_t v, int32_t w)
{
        const struct tree *b = walk->pairs->b;

        while (!is_near(walk, v, w))
                for (int32_t i = b->first[w], end = b->first[w + 1]; i < end; i++)
                        if (is_marked(walk, v, b->child[i], SCORE_COLUMNS)) {
                                w = b->child[i];
                                break;
                        }
        return w;
}

/* Matches the filler in the subtrees of a pair that has no row, but whose parents' pair has one. */
static void walk_filler(struct walk *walk, int32_t v, int32_t w)
{
        int32_t above_v = walk->pairs->a->parent[v], above_w = walk->pairs->b->parent[w];

        if (!is_near(walk, above_v, above_w)) {
                if (is_marked(walk, v, above_w, SCORE_ROWS))
                        v = near_below_v(walk, v, above_w);
                else
                        w = near_below_w(walk, above_v, w);
        }
        match_pair(walk, v, w);
}

static int walk_tree(struct walk *walk, const struct step *step)
{
        struct pairs *pairs = walk->pairs;
        const struct score *score = find(walk, step->v, step->w);
        int64_t tree, forest, own;

        if (!score) {
                walk_filler(walk, step->v, step->w);
                return 0;
        }
        tree = score_value(&pairs->scores, score->tree);
        forest = score_value(&pairs->scores, score->forest);
        own = pair_score(pairs, step->v, step->w, score_distance(score));
        if (tree != forest + own)
                return descend(walk, step, tree);
        if (own > 0)
                match_pair(walk, step->v, step->w);
        return push(walk, step->v, step->w, true);
}

/* Adds the edges between the children of v and w to the bipartite matching. */
static int gather(struct walk *walk, const struct step *step)
{
        const struct tree *a = walk->pairs->a, *b = walk->pairs->b;
        const struct scores *rows = &walk->pairs->scores;
        struct bipartite *bipartite = &walk->pairs->bipartite;
        bool all = is_near(walk, step->v, step->w);
        /* The last child of w; -1: none. */
        int32_t last = b->first[step->w + 1] > b->first[step->w] ? b->child[b->first[step->w + 1] - 1] : -1;
        int err = 0;

        bipartite_begin(bipartite, step->v, step->w, all);
        if (bipartite_is_kept(bipartite, step->v, step->w))
                return 0;
        for (int32_t i = a->first[step->v]; err == 0 && i < a->first[step->v + 1]; i++) {
                int32_t x = a->child[i];

                for (size_t at = last < 0 ? rows->stop[x] : place(rows, x, last);
                     err == 0 && at < rows->stop[x] && b->parent[score_node(&rows->pair[at])] == step->w; at++)
                        err = bipartite_add(bipartite, x, score_node(&rows->pair[at]),
                                            score_value(rows, rows->pair[at].tree));
                if (err == 0 && !all && is_marked(walk, x, step->w, SCORE_ROWS))
                        err = bipartite_add_row(bipartite, x);
        }
        for (int32_t i = b->first[step->w]; !all && err == 0 && i < b->first[step->w + 1]; i++)
                if (is_marked(walk, step->v, b->child[i], SCORE_COLUMNS))
                        err = bipartite_add_column(bipartite, b->child[i]);
        return err;
}

static int walk_forest(struct walk *walk, const struct step *step)
{
        struct bipartite *bipartite = &walk->pairs->bipartite;
        int64_t forest = value(walk, step->v, step->w, true), sum;
        int err;

        if (forest == 0)
                return 0;
        err = gather(walk, step);
        if (err < 0)
                return err;
        sum = bipartite_solve(bipartite);
        if (sum < 0)
                return (int)sum;
        if (sum != forest)
                return descend(walk, step, forest);
        for (size_t i = 0; err == 0 && i < bipartite->n; i++)
                err = push(walk, bipartite->pair[i].x, bipartite->pair[i].y, false);
        return err;
}

int pairs_backtrack(struct pairs *pairs, struct match *match)
{
        _cleanup_(walk_clear) struct walk walk = { .pairs = pairs, .match = match };
        int err = pairs->scores.n > 0 ? push(&walk, 0, 0, false) : 0;

        while (err == 0 && walk.n > 0) {
                struct step step = walk.step[--walk.n];

                err = step.forest ? walk_forest(&walk, &step) : walk_tree(&walk, &step);
        }
        return err;
}
