/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The stacks of one program as they were read, of one or several runs. Readers of formats fill it; node 0 is above all, its
 * children are the first frames of the stacks: the app's name.
 */

#include "labels.h"
#include "trie.h"

/* Deeper ones are damage, or recursion that has no end. */
#define STACKS_DEPTH_MAX 4096
/* Runs times contexts: each has some 70 bytes. */
#define STACKS_VALUES_MAX 8000000

/* Sums must not depend on the order of the input: they are kept without error, in 2^-52, and of squares in 2^-20. */
__extension__ typedef unsigned __int128 stacks_sum;

struct stacks_run {
        stacks_sum *self; /* of each node; what is behind @n is 0 */
        size_t n, capacity;
        stacks_sum *square; /* of each node, the sum of the squares of its samples, which is its variance by sampling; NULL: unknown */
        size_t n_square, square_capacity;
        stacks_sum sum; /* of all */
        double samples; /* that the sum is from; NaN: each count is a sample */
};

struct stacks {
        struct labels labels;
        struct trie trie;
        struct stacks_run *runs;
        size_t n_runs, capacity;
        double *largest; /* of each node, the largest of its samples in all runs; what is behind @n_largest is unknown */
        size_t n_largest, largest_capacity;
        char *program; /* whose DSO is the app's; NULL: the one that the first frame names */
        int32_t *before; /* nodes of the last stacks_node(), from the top down */
        size_t n_before;
};

int stacks_new(struct stacks *stacks);       /* 0; -ENOMEM */
void stacks_clear(struct stacks *stacks);
int stacks_begin(struct stacks *stacks);     /* another run. 0; -ENOMEM; -E2BIG */
int stacks_end(const struct stacks *stacks); /* of the last run. 0; -E2BIG: runs times contexts are too many */
/* The node below @parent, 0 for the first frame. -ENOMEM; -E2BIG: too many. */
int32_t stacks_child(struct stacks *stacks, int32_t parent, const char *frame, size_t length);
/*
 * The node of a stack: @root is below node 0, and @labels, fewer than STACKS_DEPTH_MAX, stand from the leaf up. It takes less
 * time for one that begins as the one before. -ENOMEM; -E2BIG.
 */
int32_t stacks_node(struct stacks *stacks, int32_t root, const int32_t *labels, size_t n);
/* Counts a stack that ends at @node in the last run, from 0 to 2^53. 0; -ENOMEM; -EOVERFLOW: all are more than 2^53. */
int stacks_add(struct stacks *stacks, int32_t node, double value);
/*
 * How far chance moves what was counted at @node, in the last run: the sum of the squares of its samples, and the largest of them.
 * 0; -ENOMEM.
 */
int stacks_add_samples(struct stacks *stacks, int32_t node, double square, double largest);
/* What was counted at a node, and the sum of the squares. */
double stacks_value(const struct stacks_run *run, size_t node);
double stacks_square(const struct stacks_run *run, size_t node);
double stacks_largest(const struct stacks *stacks, size_t node); /* of all runs; 0: unknown */
double stacks_total(const struct stacks_run *run); /* what was counted in all */
