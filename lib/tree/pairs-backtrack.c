/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which pairs make the greatest score: from the roots down, along the choices that it came from. */

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

/* The place of the first node of a row that is at most @w; rows descend. */
static size_t place(const struct scores *rows, int32_t v, int32_t w)
{
        size_t low = rows->start[v], high = rows->stop[v];

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (rows->node[middle] > w)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int64_t value(const struct scores *rows, int32_t v, int32_t w, bool forest)
{
        size_t at = place(rows, v, w);

        if (at >= rows->stop[v] || rows->node[at] != w)
                return 0;
        return forest ? rows->forest[at] : rows->tree[at];
}

/* -1: the pair may not be matched. */
static int distance_of(const struct candidates *rows, int32_t v, int32_t w)
{
        size_t low = rows->start[v], high = rows->start[v + 1];

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (rows->node[middle] < w)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < rows->start[v + 1] && rows->node[low] == w ? rows->distance[low] : -1;
}

/* Where the score came from a child alone. */
static int descend(struct walk *walk, const struct step *step, int64_t score)
{
        const struct tree *a = walk->pairs->a, *b = walk->pairs->b;
        const struct scores *rows = &walk->pairs->scores;

        for (int32_t i = a->first[step->v]; i < a->first[step->v + 1]; i++)
                if (value(rows, a->child[i], step->w, step->forest) == score)
                        return push(walk, a->child[i], step->w, step->forest);
        for (int32_t i = b->first[step->w]; i < b->first[step->w + 1]; i++)
                if (value(rows, step->v, b->child[i], step->forest) == score)
                        return push(walk, step->v, b->child[i], step->forest);
        return 0;
}

static int walk_tree(struct walk *walk, const struct step *step)
{
        struct pairs *pairs = walk->pairs;
        int64_t tree = value(&pairs->scores, step->v, step->w, false), forest = value(&pairs->scores, step->v, step->w, true);
        int distance = distance_of(&pairs->candidates, step->v, step->w);
        int64_t score = distance < 0 ? 0 : pair_score(pairs, step->v, step->w, distance);

        if (tree == 0)
                return 0;
        if (tree != forest + score)
                return descend(walk, step, tree);
        if (score > 0) {
                walk->match->partner[step->v] = step->w;
                walk->match->distance[step->v] = (uint8_t)distance;
                walk->match->matched++;
                walk->match->score += score >> SCORE_SHIFT;
        }
        return push(walk, step->v, step->w, true);
}

/* The edges between the children of v and w. */
static int gather(struct walk *walk, const struct step *step)
{
        const struct tree *a = walk->pairs->a, *b = walk->pairs->b;
        const struct scores *rows = &walk->pairs->scores;
        struct assign *assign = &walk->pairs->assign;

        assign->n = 0;
        for (int32_t i = a->first[step->v]; i < a->first[step->v + 1]; i++) {
                int32_t x = a->child[i];

                for (size_t at = place(rows, x, b->end[step->w] - 1); at < rows->stop[x] && rows->node[at] > step->w; at++)
                        if (b->parent[rows->node[at]] == step->w && assign_add(assign, x, rows->node[at], rows->tree[at]) < 0)
                                return -ENOMEM;
        }
        return 0;
}

static int walk_forest(struct walk *walk, const struct step *step)
{
        struct assign *assign = &walk->pairs->assign;
        int64_t forest = value(&walk->pairs->scores, step->v, step->w, true), sum;
        int err = 0;

        if (forest == 0)
                return 0;
        if (gather(walk, step) < 0)
                return -ENOMEM;
        sum = assign_solve(assign);
        if (sum < 0)
                return (int)sum;
        if (sum != forest)
                return descend(walk, step, forest);
        for (size_t r = 0; err == 0 && r < assign->n_rows; r++)
                if (assign->row[r].edge >= 0)
                        err = push(walk, assign->edge[assign->row[r].edge].row, assign->edge[assign->row[r].edge].column, false);
        return err;
}

int pairs_backtrack(struct pairs *pairs, struct match *match)
{
        _cleanup_(walk_clear) struct walk walk = { .pairs = pairs, .match = match };
        int err = push(&walk, 0, 0, false);

        while (err == 0 && walk.n > 0) {
                struct step step = walk.step[--walk.n];

                err = step.forest ? walk_forest(&walk, &step) : walk_tree(&walk, &step);
        }
        return err;
}
