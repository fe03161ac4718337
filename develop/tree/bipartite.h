/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A bipartite matching: which children of v go with which children of w. Pairs that are added have a weight of their
 * own. Many more pairs have the same weight, the filler, and are never listed one by one: those of a child of v
 * that goes with any child of w, or the other way round.
 */

#include <stdbool.h>

#include "assign.h"
#include "tree.h"

struct bipartite_pair {
        int32_t x, y;
};

struct bipartite {
        const struct tree *a, *b;
        int64_t filler;
        int32_t v, w;
        bool all; /* each child of v goes with any child of w */
        struct assign assign;
        struct assign_edge *given; /* edges that were added, while fillers are put in between */
        int32_t *row, *column;     /* children that go with any */
        uint8_t *seen_a, *seen_b;  /* indexed by nodes; 0 between calls */
        size_t n_given, givens, n_rows, rows, n_columns, columns;

        struct bipartite_pair *pair; /* pairs of the last bipartite_solve() */
        size_t n, pairs;

        struct bipartite_pair *kept; /* pairs of the solution with the most edges, which takes long */
        size_t n_kept, kepts, kept_edges;
        int32_t kept_v, kept_w;
        int64_t kept_value;
};

/* @edges: limit for one assignment; @steps: limit for all. 0; -ENOMEM. */
int bipartite_make(struct bipartite *bipartite, const struct tree *a, const struct tree *b, int64_t filler,
                   size_t edges, size_t steps);
void bipartite_clear(struct bipartite *bipartite);

void bipartite_begin(struct bipartite *bipartite, int32_t v, int32_t w, bool all);
/* Pairs of one x must be consecutive. @weight: at least the filler, if the pair is one, too. 0; -ENOMEM; -E2BIG. */
int bipartite_add(struct bipartite *bipartite, int32_t x, int32_t y, int64_t weight);
int bipartite_add_row(struct bipartite *bipartite, int32_t x); /* x goes with any child of w. 0; -ENOMEM */
int bipartite_add_column(struct bipartite *bipartite, int32_t y);

/* The greatest sum of weights; -ENOMEM; -E2BIG. If it is at most @enough, it need not be exact, only at most that. */
int64_t bipartite_value(struct bipartite *bipartite, int64_t enough);
/* Is the answer for v and w known, so that nothing need be added? */
bool bipartite_is_kept(const struct bipartite *bipartite, int32_t v, int32_t w);
/* The same, but always exact, with the pairs in @pair. */
int64_t bipartite_solve(struct bipartite *bipartite);
