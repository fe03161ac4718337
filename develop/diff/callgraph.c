/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "callgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* Contexts that cost less than this share of the whole are not entered: all cost below them counts as their own. */
#define SHARE_MIN 1e-5
#define CONTEXTS_MAX TRIE_NODES_MAX

/*
 * Functions that call each other in a cycle are one group (a strongly connected component). Costs by caller
 * are counted several times inside a group, but not for calls into it and out of it. In the stacks, the
 * function that is called from outside is the parent of all other functions of its group.
 */
struct group {
        int32_t first, n;  /* its functions: index of the first in members, and their number */
        double total;      /* inclusive cost: its functions and all that they call */
        double self;
};

struct expand {
        struct callgraph *graph;
        struct read *read;
        int32_t *edges_at; /* index of each function's first edge; edges are sorted by caller */
        int32_t *group;    /* index of each function's group */
        int32_t *members;
        struct group *groups;
        size_t n_groups;
        double *entered; /* inclusive cost of each function when called from outside its group */
        double total;
        size_t contexts; /* number of contexts that were entered */
};

void callgraph_clear(struct callgraph *graph)
{
        free(graph->functions);
        free(graph->edges);
}

static void expand_clear(struct expand *expand)
{
        free(expand->edges_at);
        free(expand->group);
        free(expand->members);
        free(expand->groups);
        free(expand->entered);
}

static int compare_edges(const void *a, const void *b)
{
        const struct callgraph_edge *x = a, *y = b;

        if (x->caller != y->caller)
                return x->caller < y->caller ? -1 : 1;
        return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Sorts edges by caller, and merges the edges between the same two functions. */
static int sort_edges(struct expand *expand)
{
        struct callgraph *graph = expand->graph;
        size_t n = 0;

        if (graph->n_edges > 0)
                qsort(graph->edges, graph->n_edges, sizeof(*graph->edges), compare_edges);
        for (size_t i = 0; i < graph->n_edges; i++) {
                if (n > 0 && compare_edges(&graph->edges[n - 1], &graph->edges[i]) == 0)
                        graph->edges[n - 1].cost += graph->edges[i].cost;
                else
                        graph->edges[n++] = graph->edges[i];
        }
        graph->n_edges = n;
        expand->edges_at = calloc(graph->n + 2, sizeof(*expand->edges_at));
        if (!expand->edges_at)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                expand->edges_at[graph->edges[i].caller + 1]++;
        for (size_t i = 0; i < graph->n; i++)
                expand->edges_at[i + 1] += expand->edges_at[i];
        return 0;
}

/* State of Tarjan's algorithm, which has a stack of its own instead of recursion. */
struct tarjan {
        /* For each function: its rank in order of visit, from 1; the lowest rank that it reaches; its next edge. */
        int32_t *index, *low, *next;
        int32_t *path, *open; /* functions that are being visited; functions that have no group yet */
        size_t n_path, n_open;
        int32_t seen;
};

static void tarjan_clear(struct tarjan *tarjan)
{
        free(tarjan->index);
        free(tarjan->low);
        free(tarjan->next);
        free(tarjan->path);
        free(tarjan->open);
}

static void enter(struct tarjan *tarjan, const struct expand *expand, int32_t function)
{
        tarjan->index[function] = tarjan->low[function] = ++tarjan->seen;
        tarjan->next[function] = expand->edges_at[function];
        tarjan->path[tarjan->n_path++] = function;
        tarjan->open[tarjan->n_open++] = function;
}

static void leave(struct tarjan *tarjan, struct expand *expand, int32_t function, size_t *n_members)
{
        struct group *group = &expand->groups[expand->n_groups];
        int32_t member;

        tarjan->n_path--;
        if (tarjan->n_path > 0) {
                int32_t above = tarjan->path[tarjan->n_path - 1];

                tarjan->low[above] = MIN(tarjan->low[above], tarjan->low[function]);
        }
        if (tarjan->low[function] != tarjan->index[function])
                return;
        *group = (struct group){ .first = (int32_t)*n_members };
        do {
                member = tarjan->open[--tarjan->n_open];
                expand->group[member] = (int32_t)expand->n_groups;
                expand->members[(*n_members)++] = member;
                group->n++;
        } while (member != function);
        expand->n_groups++;
}

static int find_groups(struct expand *expand)
{
        const struct callgraph *graph = expand->graph;
        _cleanup_(tarjan_clear) struct tarjan tarjan = { 0 };
        size_t n = graph->n + 1, n_members = 0;

        tarjan.index = calloc(n, sizeof(*tarjan.index));
        tarjan.low = calloc(n, sizeof(*tarjan.low));
        tarjan.next = calloc(n, sizeof(*tarjan.next));
        tarjan.path = calloc(n, sizeof(*tarjan.path));
        tarjan.open = calloc(n, sizeof(*tarjan.open));
        expand->group = malloc(n * sizeof(*expand->group));
        expand->members = calloc(n, sizeof(*expand->members));
        expand->groups = calloc(n, sizeof(*expand->groups));
        if (!tarjan.index || !tarjan.low || !tarjan.next || !tarjan.path || !tarjan.open || !expand->group ||
            !expand->members || !expand->groups)
                return -ENOMEM;
        memset(expand->group, 0xff, n * sizeof(*expand->group));
        for (size_t i = 0; i < graph->n; i++) {
                if (tarjan.index[i] == 0)
                        enter(&tarjan, expand, (int32_t)i);
                while (tarjan.n_path > 0) {
                        int32_t function = tarjan.path[tarjan.n_path - 1], callee;

                        if (tarjan.next[function] == expand->edges_at[function + 1]) {
                                leave(&tarjan, expand, function, &n_members);
                                continue;
                        }
                        callee = graph->edges[tarjan.next[function]++].callee;
                        if (tarjan.index[callee] == 0)
                                enter(&tarjan, expand, callee);
                        else if (expand->group[callee] < 0)
                                tarjan.low[function] = MIN(tarjan.low[function], tarjan.index[callee]);
                }
        }
        return 0;
}

static int sum_up(struct expand *expand)
{
        const struct callgraph *graph = expand->graph;

        expand->entered = calloc(graph->n + 1, sizeof(*expand->entered));
        if (!expand->entered)
                return -ENOMEM;
        for (size_t i = 0; i < graph->n; i++) {
                expand->groups[expand->group[i]].total += graph->functions[i].self;
                expand->groups[expand->group[i]].self += graph->functions[i].self;
                expand->total += graph->functions[i].self;
        }
        for (size_t i = 0; i < graph->n_edges; i++) {
                const struct callgraph_edge *edge = &graph->edges[i];

                if (expand->group[edge->caller] == expand->group[edge->callee])
                        continue;
                expand->groups[expand->group[edge->caller]].total += edge->cost;
                expand->entered[edge->callee] += edge->cost;
        }
        return 0;
}

/* A function in one context, with the share of its group's cost that falls on this context. */
struct visit {
        int32_t node, function; /* @node: the caller's */
        double share; /* fraction of the group's total */
        int32_t depth;
};

struct visits {
        struct visit *list;
        size_t n, capacity;
};

static int push(struct visits *visits, struct visit visit)
{
        if (util_grow(&visits->list, &visits->capacity, visits->n + 1, sizeof(*visits->list)) < 0)
                return -ENOMEM;
        visits->list[visits->n++] = visit;
        return 0;
}

/* Adds the self cost of one function of a group at @node, and pushes its callees outside of the group. */
static int visit_member(struct expand *expand, struct visits *visits, int32_t function, int32_t node,
                        double share, int32_t depth)
{
        const struct callgraph *graph = expand->graph;
        double self = graph->functions[function].self * share;
        int err = 0;

        if (self > 0)
                err = read_add(expand->read, node, self, 0);
        for (int32_t i = expand->edges_at[function]; err == 0 && i < expand->edges_at[function + 1]; i++) {
                const struct callgraph_edge *edge = &graph->edges[i];
                const struct group *group = &expand->groups[expand->group[edge->callee]];

                if (expand->group[edge->callee] == expand->group[function] || !(edge->cost * share > 0) ||
                    !(group->total > 0))
                        continue;
                err = push(visits, (struct visit){ node, edge->callee, edge->cost * share / group->total, depth });
                if (err < 0)
                        return read_failed(expand->read, err);
        }
        return err;
}

static int visit_context(struct expand *expand, struct visits *visits, struct visit visit)
{
        const struct callgraph *graph = expand->graph;
        const struct group *group = &expand->groups[expand->group[visit.function]];
        struct trie *trie = &expand->read->stacks->trie;
        bool start = visit.depth == 1 && graph->functions[visit.function].start;
        int32_t node = start ? visit.node : trie_child(trie, visit.node, graph->functions[visit.function].label);
        int err;

        if (node >= 0 && ++expand->contexts > CONTEXTS_MAX)
                node = -E2BIG;
        if (node < 0)
                return read_failed(expand->read, node);
        if (group->total * visit.share < expand->total * SHARE_MIN || visit.depth >= STACKS_DEPTH_MAX - 2)
                return read_add(expand->read, node, group->total * visit.share, 0);
        err = visit_member(expand, visits, visit.function, node, visit.share, visit.depth + 1);
        for (int32_t i = 0; err == 0 && i < group->n; i++) {
                int32_t member = expand->members[group->first + i], below;

                if (member == visit.function)
                        continue;
                below = trie_child(trie, node, graph->functions[member].label);
                err = below < 0 ? read_failed(expand->read, below)
                                : visit_member(expand, visits, member, below, visit.share, visit.depth + 2);
        }
        return err;
}

/* Pushes roots: the part of a group's cost that no caller accounts for starts at its function of greatest self cost. */
static int push_roots(struct expand *expand, struct visits *visits, int32_t root)
{
        for (size_t i = 0; i < expand->n_groups; i++) {
                const struct group *group = &expand->groups[i];
                double entered = 0;
                int32_t heaviest = expand->members[group->first];

                for (int32_t j = 0; j < group->n; j++) {
                        int32_t member = expand->members[group->first + j];

                        entered += expand->entered[member];
                        if (expand->graph->functions[member].self > expand->graph->functions[heaviest].self)
                                heaviest = member;
                }
                if (group->total - entered > group->total * 1e-9 &&
                    push(visits, (struct visit){ root, heaviest, 1 - entered / group->total, 1 }) < 0)
                        return read_failed(expand->read, -ENOMEM);
        }
        return 0;
}

/* Raises a group's total to the sum of its callers' costs if that is more, so that the callers share its cost. */
static void scale_edges(struct expand *expand)
{
        struct callgraph *graph = expand->graph;
        _cleanup_free_ double *entered = calloc(expand->n_groups + 1, sizeof(*entered));

        for (size_t i = 0; entered && i < graph->n; i++)
                entered[expand->group[i]] += expand->entered[i];
        for (size_t i = 0; entered && i < expand->n_groups; i++)
                expand->groups[i].total = MAX(expand->groups[i].total, entered[i]);
}

static void visits_clear(struct visits *visits)
{
        free(visits->list);
}

int callgraph_expand(struct callgraph *graph, struct read *read, int32_t root)
{
        _cleanup_(expand_clear) struct expand expand = { .graph = graph, .read = read };
        _cleanup_(visits_clear) struct visits visits = { 0 };
        int err = sort_edges(&expand);

        if (err == 0)
                err = find_groups(&expand);
        if (err == 0)
                err = sum_up(&expand);
        if (err < 0)
                return read_failed(read, err);
        scale_edges(&expand);
        err = push_roots(&expand, &visits, root);
        while (err == 0 && visits.n > 0)
                err = visit_context(&expand, &visits, visits.list[--visits.n]);
        return err;
}
