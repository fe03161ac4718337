/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Data between the passes of a matching: rows of pairs, one row for each node of the first tree.
 *
 * A pair is near if its paths are less than alpha edits apart: then all pairs one edit further may be
 * matched, too. Most pairs that may be matched are alpha edits apart, with different labels and nothing below
 * them that scores more. They have no row. Their score is called the filler, and the near pairs tell where there
 * is one.
 *
 * Near pairs of different labels have no row either if one node is a leaf: they score the filler, too. Only
 * those that are nearer than the leaf's parent is to the other node are kept, because they tell where fillers
 * are, and how far the pairs below are.
 */

#include "bipartite.h"
#include "bitmap.h"
#include "match.h"

/*
 * Nodes w whose paths are at most alpha edits from v's, ascending, with the distance; without those that
 * are fillers alone, and without most leaves. Rows of one node's children are consecutive.
 */
struct candidates {
        size_t *start, *stop; /* range of each row */
        int32_t *node;
        uint8_t *distance;
        size_t n, nodes, distances;
};

#define SCORE_SHIFT 26    /* a score is the sum of pairs' scores << SCORE_SHIFT, plus the number of pairs */
#define SCORE_SMALL 12    /* the same in 32 bits, if there are fewer than 1 << SCORE_SMALL pairs */
#define SCORE_WIDE (1U << 31) /* else the index in @wide, with this bit */
#define DISTANCE_NONE 15  /* the pair may not be matched */

/* The greatest scores of the subtrees of v and w. */
struct score {
        uint32_t place;        /* w, the pair's distance << SCORE_DISTANCE, and marks */
        uint32_t tree, forest; /* score with and without v and w themselves */
};
#define SCORE_DISTANCE 24
#define SCORE_ROWS (1U << 28)    /* a node of v's subtree is near w: it makes a filler with each child of w */
#define SCORE_COLUMNS (1U << 29) /* a node of w's subtree is near v */

/* All pairs (v, w) that have a scoring pair other than a filler in their subtrees; descending by w. */
struct scores {
        size_t *start, *stop; /* range of each row */
        struct score *pair;
        int64_t *wide;
        size_t n, capacity, n_wide, wides;
};

struct pairs {
        const struct tree *a, *b;
        int alpha;
        enum match_objective objective;
        const struct match_limits *limits;
        int64_t filler; /* score of a pair with different labels */
        struct candidates candidates;
        struct scores scores;
        struct bitmap marked; /* one bit for each node of @b */
        struct bipartite bipartite;
};

int candidates_find(struct pairs *pairs);   /* 0; -E2BIG; -ENOMEM */
int scores_find(struct pairs *pairs);       /* likewise */
int pairs_backtrack(struct pairs *pairs, struct match *match); /* likewise */

static inline int64_t pair_score(const struct pairs *pairs, int32_t v, int32_t w, int distance)
{
        bool equal = pairs->a->label[v] == pairs->b->label[w];

        if (distance == DISTANCE_NONE || !equal)
                return distance == DISTANCE_NONE ? 0 : pairs->filler;
        return (int64_t)(pairs->objective == MATCH_COUNT ? 1 : MATCH_SCORE - distance) << SCORE_SHIFT | 1;
}

static inline int32_t score_node(const struct score *score)
{
        return (int32_t)(score->place & ((1U << SCORE_DISTANCE) - 1));
}

static inline int score_distance(const struct score *score)
{
        return (int)(score->place >> SCORE_DISTANCE & 15);
}

static inline int64_t score_value(const struct scores *scores, uint32_t value)
{
        if (value & SCORE_WIDE)
                return scores->wide[value & ~SCORE_WIDE];
        return (int64_t)(value >> SCORE_SMALL) << SCORE_SHIFT | (value & ((1U << SCORE_SMALL) - 1));
}
