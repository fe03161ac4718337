/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The best matching of two trees of calling contexts. A pair (v, w) may be matched if the paths of labels
 * from the roots to v and w are at most alpha edits apart (delete, insert, rename, each 1). A matching preserves
 * which node is above which, and where two nodes' paths branch (Zhang's constrained matching). The best one has
 * the greatest sum of scores, and among equal sums the most pairs. develop/diff/METHOD.md has the recurrence.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree.h"

#define MATCH_ALPHA_MAX 8
/*
 * The score of a pair with equal labels and equal paths; each edit between the paths subtracts 1. A pair with
 * different labels scores 1.
 */
#define MATCH_SCORE 12

enum match_objective {
        MATCH_SIMILAR, /* the scores above */
        MATCH_COUNT,   /* each pair scores 1: the paper's objective, for comparison */
};

struct match {
        int32_t *partner;  /* for each node of the first tree, its partner in the second; -1: none */
        uint8_t *distance; /* edits between the paths of the two */
        int32_t matched;   /* number of pairs */
        int64_t score;     /* sum of the pairs' scores */
        int alpha;         /* the one that was used */
        enum match_objective objective;
};

/* Memory and time that a matching may take. */
struct match_limits {
        size_t bytes; /* bytes of rows of pairs */
        size_t edges; /* edges of the bipartite matchings of one node's children */
        size_t steps; /* edges that all bipartite matchings look at */
};
extern const struct match_limits match_limits;

/**
 * match_trees() - match two trees, exactly by the objective
 *
 * Return: 0; -E2BIG: it would take more than @limits; -ENOMEM.
 */
int match_trees(const struct tree *a, const struct tree *b, int alpha, enum match_objective objective,
                const struct match_limits *limits, struct match *ret);

/*
 * Like match_trees(), but where it would take too much, with a smaller alpha, and finally with 0. The result does not
 * depend on which tree is the first. In equal trees, each node is matched with itself. @ret has the alpha that was
 * used.
 */
int match_within(const struct tree *a, const struct tree *b, int alpha, enum match_objective objective,
                 const struct match_limits *limits, struct match *ret);
void match_clear(struct match *match);
