/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "util/util.h"

/* .85 GB of rows and .8 GB of edges, which are in three arrays, leave room for the trees within 2 GB. */
const struct match_limits match_limits = { .bytes = (size_t)800 << 20, .edges = 10000000, .steps = 1000000000 };

void match_clear(struct match *match)
{
        free(match->partner);
        free(match->distance);
        *match = (struct match){ 0 };
}

static void pairs_clear(struct pairs *pairs)
{
        free(pairs->candidates.start);
        free(pairs->candidates.stop);
        free(pairs->candidates.node);
        free(pairs->candidates.distance);
        free(pairs->scores.start);
        free(pairs->scores.stop);
        free(pairs->scores.pair);
        free(pairs->scores.wide);
        bitmap_clear(&pairs->marked);
        bipartite_clear(&pairs->bipartite);
}

static int match_new(int32_t n, struct match *ret)
{
        struct match match = { .partner = malloc((size_t)n * sizeof(*match.partner)),
                               .distance = calloc((size_t)n, 1) };

        if (!match.partner || !match.distance) {
                match_clear(&match);
                return -ENOMEM;
        }
        memset(match.partner, 0xff, (size_t)n * sizeof(*match.partner));
        *ret = match;
        return 0;
}

/* The node of b with v's path; -1: none. @same: that of the parent is known. */
static int32_t find_same(const struct tree *a, const struct tree *b, int32_t v, const int32_t *same)
{
        if (v == 0)
                return a->label[0] == b->label[0] ? 0 : -1;
        return same[a->parent[v]] < 0 ? -1 : tree_find(b, same[a->parent[v]], a->label[v]);
}

/* Matches with alpha 0: then each node has one partner at most, and all of these pairs are a matching. */
static int match_same(const struct tree *a, const struct tree *b, enum match_objective objective, struct match *ret)
{
        int err = match_new(a->n, ret);

        if (err < 0)
                return err;
        for (int32_t v = 0; v < a->n; v++) {
                ret->partner[v] = find_same(a, b, v, ret->partner);
                ret->matched += ret->partner[v] >= 0;
        }
        ret->score = (int64_t)ret->matched * (objective == MATCH_COUNT ? 1 : MATCH_SCORE);
        ret->objective = objective;
        return 0;
}

/* The number of a node's children that have children. */
static uint64_t count_inner(const struct tree *tree, int32_t node)
{
        uint64_t n = 0;

        for (int32_t i = tree->first[node]; i < tree->first[node + 1]; i++)
                n += tree->first[tree->child[i]] < tree->first[tree->child[i] + 1];
        return n;
}

/*
 * Are there too many pairs (-E2BIG), before rows are made? All pairs of children of two nodes with equal paths are one
 * edit apart, and have rows if alpha is more than 1 and neither child is a leaf. Only these are counted.
 */
static int check_width(const struct tree *a, const struct tree *b, const struct match_limits *limits)
{
        _cleanup_free_ int32_t *same = malloc((uint32_t)a->n * sizeof(*same));

        if (!same)
                return -ENOMEM;
        for (int32_t v = 0; v < a->n; v++) {
                same[v] = find_same(a, b, v, same);
                if (same[v] >= 0 && count_inner(a, v) * count_inner(b, same[v]) > limits->edges)
                        return -E2BIG;
        }
        return 0;
}

/* Matches with alpha from 1 on. @b: numbered by levels, so that data of the children of one node is contiguous. */
static int match_levels(const struct tree *a, const struct tree *b, int alpha, enum match_objective objective,
                        const struct match_limits *limits, struct match *ret)
{
        _cleanup_(pairs_clear) struct pairs pairs = {
                .a = a, .b = b, .alpha = alpha, .objective = objective, .limits = limits
        };
        _cleanup_(match_clear) struct match match = { 0 };
        int err;

        pairs.filler = (int64_t)1 << SCORE_SHIFT | 1;
        err = alpha > 1 ? check_width(a, b, limits) : 0;
        if (err == 0)
                err = bitmap_make(&pairs.marked, b->n);
        if (err == 0)
                err = bipartite_make(&pairs.bipartite, a, b, pairs.filler, limits->edges, limits->steps);
        if (err == 0)
                err = candidates_find(&pairs);
        if (err == 0)
                err = scores_find(&pairs);
        if (err == 0)
                err = match_new(a->n, &match);
        if (err == 0)
                err = pairs_backtrack(&pairs, &match);
        if (err < 0)
                return err;
        match.alpha = alpha;
        match.objective = objective;
        *ret = match;
        match = (struct match){ 0 };
        return 0;
}

int match_trees(const struct tree *a, const struct tree *b, int alpha, enum match_objective objective,
                const struct match_limits *limits, struct match *ret)
{
        _cleanup_(tree_clear) struct tree levels = { 0 };
        _cleanup_free_ int32_t *from = NULL;
        int err;

        if (alpha == 0)
                return match_same(a, b, objective, ret);
        err = tree_by_levels(b, &levels, &from);
        if (err == 0)
                err = match_levels(a, &levels, alpha, objective, limits, ret);
        for (int32_t v = 0; err == 0 && v < a->n; v++)
                if (ret->partner[v] >= 0)
                        ret->partner[v] = from[ret->partner[v]];
        return err;
}

/* A matching of b and a as one of a and b. */
static int turn(const struct match *match, int32_t n, int32_t n_other, struct match *ret)
{
        int err = match_new(n_other, ret);

        if (err < 0)
                return err;
        for (int32_t i = 0; i < n; i++) {
                if (match->partner[i] < 0)
                        continue;
                ret->partner[match->partner[i]] = i;
                ret->distance[match->partner[i]] = match->distance[i];
        }
        ret->matched = match->matched;
        ret->score = match->score;
        ret->alpha = match->alpha;
        ret->objective = match->objective;
        return 0;
}

int match_within(const struct tree *a, const struct tree *b, int alpha, enum match_objective objective,
                 const struct match_limits *limits, struct match *ret)
{
        int order = tree_compare(a, b);
        bool turned = order > 0;
        _cleanup_(match_clear) struct match match = { 0 };
        const struct tree *first = turned ? b : a, *second = turned ? a : b;
        int err = order == 0 ? match_same(a, b, objective, &match) :
                               match_trees(first, second, alpha, objective, limits, &match);

        while (err == -E2BIG && alpha > 0)
                err = match_trees(first, second, --alpha, objective, limits, &match);
        if (err < 0)
                return err;
        match.alpha = alpha;
        if (turned)
                return turn(&match, first->n, second->n, ret);
        *ret = match;
        match = (struct match){ 0 };
        return 0;
}
