/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A call graph, as written by profilers that count instead of sampling stacks: the self cost of functions,
 * and their inclusive cost by caller. Stacks are made from it in proportion: each context of a function gets
 * the same share of the function's self cost and of everything below it.
 */

#include "read.h"

struct callgraph_function {
        int32_t label; /* its label in the stacks */
        double self;
        bool start; /* it is the dynamic loader's: it gets no frame of its own where nothing calls it */
};

struct callgraph_edge {
        int32_t caller, callee; /* indices of functions */
        double cost; /* inclusive cost of the callee in calls from this caller */
};

struct callgraph {
        struct callgraph_function *functions;
        size_t n, capacity;
        struct callgraph_edge *edges;
        size_t n_edges, edges_capacity;
};

void callgraph_clear(struct callgraph *graph);
/* Counts its stacks below @root, a node of the stacks. 0; a negative errno after its sentence. */
int callgraph_expand(struct callgraph *graph, struct read *read, int32_t root);
