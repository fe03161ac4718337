/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The stacks of one program as they were read, from one or several runs. Readers of formats fill it. Node 0 is
 * the root; its children are the first frames of the stacks: the app's name.
 */

#include <stdbool.h>

#include "labels.h"
#include "trie.h"
#include "util/wide.h"

/* Deeper stacks are damage, or endless recursion. */
#define STACKS_DEPTH_MAX 4096
/* Most runs times contexts: each takes some 70 bytes. */
#define STACKS_VALUES_MAX 8000000

/* Sums must not depend on the order of the input: they are exact, in units of 2^-52, or 2^-20 for squares. */
typedef uint_wide stacks_sum;

struct stacks_run {
        stacks_sum *self; /* self value of each node; 0 from node @n on */
        size_t n, capacity;
        /*
         * Sum of the squares of each node's samples, which is the node's variance by sampling; NULL:
         * unknown.
         */
        stacks_sum *square;
        size_t n_square, square_capacity;
        stacks_sum sum; /* sum of the values of all nodes */
        double samples; /* number of samples that the sum is from; NaN: each count is a sample */
        bool uncounted; /* @samples is a guess */
};

struct stacks {
        struct labels labels;
        struct trie trie;
        struct stacks_run *runs;
        size_t n_runs, capacity;
        /* Largest sample of each node in all runs; unknown from node @n_largest on. */
        double *largest;
        size_t n_largest, largest_capacity;
        char *program; /* the program whose DSO is the app's; NULL: the one that the first frame names */
        int32_t *before; /* nodes of the last stacks_node(), from the top down */
        size_t n_before;
};

int stacks_new(struct stacks *stacks);       /* 0; -ENOMEM */
void stacks_clear(struct stacks *stacks);
int stacks_begin(struct stacks *stacks);     /* begins another run. 0; -ENOMEM; -E2BIG */
int stacks_end(const struct stacks *stacks); /* ends the last run. 0; -E2BIG: runs times contexts are too many */
/* The node below @parent, 0 for the first frame. -ENOMEM; -E2BIG: too many. */
int32_t stacks_child(struct stacks *stacks, int32_t parent, const char *frame, size_t length);
/*
 * The node of a stack: @root is the label below node 0, and @labels, fewer than STACKS_DEPTH_MAX, are from the leaf
 * up. A stack that begins like the one before takes less time. -ENOMEM; -E2BIG.
 */
int32_t stacks_node(struct stacks *stacks, int32_t root, const int32_t *labels, size_t n);
/*
 * Adds a value from 0 to 2^53 to the last run, at the node where its stack ends. 0; -ENOMEM; -EOVERFLOW: the sum of
 * the run would be more than 2^53.
 */
int stacks_add(struct stacks *stacks, int32_t node, double value);
/*
 * Adds how far chance moves the value of @node in the last run: the sum of the squares of its samples, and the
 * largest of them. 0; -ENOMEM.
 */
int stacks_add_samples(struct stacks *stacks, int32_t node, double square, double largest);
/* The self value of a node, and the sum of the squares of its samples. */
double stacks_value(const struct stacks_run *run, size_t node);
double stacks_square(const struct stacks_run *run, size_t node);
double stacks_largest(const struct stacks *stacks, size_t node); /* the largest sample in all runs; 0: unknown */
double stacks_total(const struct stacks_run *run); /* the sum of all values */
