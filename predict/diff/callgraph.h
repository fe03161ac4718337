/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A call graph, as profilers have it that count instead of taking stacks: what functions cost themselves, and what they cost by
 * caller. Stacks are made of it by proportion: a function costs in each of its contexts the same share of everything below it.
 */

#include "read.h"

struct callgraph_function {
        int32_t label; /* of the stacks */
        double self;
        bool start; /* of the loader: without a frame of its own where nothing calls it */
};

struct callgraph_edge {
        int32_t caller, callee; /* functions */
        double cost; /* of the callee and all below it, as called from here */
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
