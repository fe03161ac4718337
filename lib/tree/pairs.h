/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Between the passes of a matching: rows of pairs, one row a node of the first tree. */

#include "assign.h"
#include "bitmap.h"
#include "match.h"

/* Nodes w whose paths are near enough to v's, ascending, with the distance. */
struct candidates {
        size_t *start; /* n + 1 */
        int32_t *node;
        uint8_t *distance;
        size_t n, nodes, distances;
};

/*
 * What two subtrees can score: of all pairs (v, w) that have a scoring pair in their subtrees, descending by w. A score
 * is the sum of pairs' scores << SCORE_SHIFT, plus the number of pairs.
 */
struct scores {
        size_t *start, *stop; /* of each row */
        int32_t *node;
        int64_t *tree, *forest; /* with and without v and w themselves */
        size_t n, nodes, trees, forests;
};

#define SCORE_SHIFT 26

struct pairs {
        const struct tree *a, *b;
        int alpha;
        enum match_objective objective;
        const struct match_limits *limits;
        struct candidates candidates;
        struct scores scores;
        struct bitmap marked; /* over the nodes of @b */
        struct assign assign;
};

int candidates_find(struct pairs *pairs);   /* 0; -E2BIG; -ENOMEM */
int scores_find(struct pairs *pairs);       /* likewise */
int pairs_backtrack(struct pairs *pairs, struct match *match); /* 0; -ENOMEM */

static inline int64_t pair_score(const struct pairs *pairs, int32_t v, int32_t w, int distance)
{
        bool equal = pairs->a->label[v] == pairs->b->label[w];
        int64_t score = equal ? MATCH_SCORE - distance : 1;

        if (pairs->objective == MATCH_EQUAL && !equal)
                return 0;
        if (pairs->objective == MATCH_COUNT)
                score = 1;
        return score << SCORE_SHIFT | 1;
}
