/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The sparse assignment problem: which children of v go with which children of w, so that the sum of their weights
 * is greatest.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assign_edge {
        int32_t row, column; /* nodes; assign_solve() makes them numbers of lines */
        int64_t weight;      /* above 0 */
};

/* A row or a column of the matrix. */
struct assign_line {
        int64_t price, distance;
        int32_t node;
        int32_t edge;  /* the edge that matches it; -1: none */
        int32_t first; /* a row's first edge */
        int32_t from;  /* the edge by which a path came here */
        int32_t seen;  /* the search that came here last */
};

/* A problem, and the memory that one solution leaves to the next. */
struct assign {
        struct assign_edge *edge; /* edges of one row are consecutive */
        size_t n, capacity;

        struct assign_line *row, *column; /* lines of the last assign_solve(); an extra row ends the list of rows */
        size_t n_rows, n_columns, rows, columns;

        int64_t *best;  /* indexed by the nodes of the second tree; 0 between calls */
        int32_t *index; /* likewise */
        struct assign_step *heap;
        size_t n_heap, heaps;
        int32_t *seen; /* columns that the search came to */
        size_t n_seen, seens;
        int32_t search;
        size_t edges, steps; /* limits: edges of one assignment, edges that searches may still look at */
};

int assign_make(struct assign *assign, int32_t n_nodes, size_t edges, size_t steps); /* 0; -ENOMEM */
void assign_clear(struct assign *assign);
int assign_add(struct assign *assign, int32_t row, int32_t column, int64_t weight); /* 0; -ENOMEM; -E2BIG */
/*
 * The greatest sum of weights of the edges that were added; -ENOMEM; -E2BIG: it takes too many steps. If it is at
 * most @enough, it need not be exact, only at most @enough. @solved: assign_solve() found it.
 */
int64_t assign_value(struct assign *assign, int64_t enough, bool *solved);
/* The same, but always exact, with the edges in assign->row[].edge. The edges that were added are used up. */
int64_t assign_solve(struct assign *assign);
