/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "leftover.h"

#include <errno.h>
#include <stdlib.h>

#include "util/util.h"

#define PAIRS_MAX 20000000 /* distances that are computed at most; further tasks are not compared */

struct leftover {
        int32_t node, nearest; /* @nearest: index in the other program's group; -1: none, or several */
        int distance;
};

struct work {
        struct comparison *comparison;
        int alpha;
        int32_t *path_a, *path_b;
        int32_t *back; /* partner of each node of B; -1: none */
        uint8_t *row;
        size_t pairs;
};

static void work_clear(struct work *work)
{
        free(work->path_a);
        free(work->path_b);
        free(work->back);
        free(work->row);
}

static int32_t read_path(const struct tree *tree, int32_t node, int32_t *path)
{
        int32_t n = tree->depth[node] + 1;

        for (int32_t i = n; i-- > 0; node = tree->parent[node])
                path[i] = tree->label[node];
        return n;
}

/* Edit distance of two paths, computed in a band of alpha; alpha + 1: it is more than alpha. */
static int distance(struct work *work, int32_t v, int32_t w)
{
        const struct tree *a = &work->comparison->a->contexts.tree, *b = &work->comparison->b->contexts.tree;
        int32_t n = read_path(a, v, work->path_a), m = read_path(b, w, work->path_b);
        int far = work->alpha + 1;

        if (abs(n - m) > work->alpha)
                return far;
        for (int32_t j = 0; j <= m; j++)
                work->row[j] = (uint8_t)MIN(j, far);
        for (int32_t i = 1; i <= n; i++) {
                int32_t from = MAX(1, i - work->alpha), to = MIN(m, i + work->alpha);
                int diagonal = work->row[from - 1], left = from == 1 ? MIN(i, far) : far, above;

                work->row[from - 1] = (uint8_t)left;
                for (int32_t j = from; j <= to; j++) {
                        above = j == i + work->alpha ? far : work->row[j];
                        left = MIN(above, left) + 1;
                        left = MIN(left, diagonal + (work->path_a[i - 1] != work->path_b[j - 1]));
                        left = MIN(left, far);
                        diagonal = work->row[j];
                        work->row[j] = (uint8_t)left;
                }
        }
        return work->row[m];
}

bool leftover_is_carried(const struct contexts *contexts, int32_t node)
{
        for (int32_t at = node; at > 0 && contexts->carrier >= 0; at = contexts->tree.parent[at])
                if (contexts->label[at] == contexts->carrier)
                        return true;
        return false;
}

/* The most edits for a pair: 1 below callers of different names, unless a thread or an event loop runs one of them. */
static int most_edits(const struct work *work, int32_t v, int32_t w)
{
        if (leftover_is_carried(&work->comparison->a->contexts, v) ||
            leftover_is_carried(&work->comparison->b->contexts, w))
                return work->alpha;

        const struct tree *a = &work->comparison->a->contexts.tree, *b = &work->comparison->b->contexts.tree;

        return a->label[a->parent[v]] == b->label[b->parent[w]] ? work->alpha : MIN(work->alpha, 1);
}

static void offer(struct leftover *leftover, int32_t node, int there)
{
        if (there < leftover->distance) {
                leftover->distance = there;
                leftover->nearest = node;
        } else if (there == leftover->distance) {
                leftover->nearest = -1;
        }
}

/* Makes a pair of two nodes, and removes the partners that they had. */
static void join(struct work *work, int32_t v, int32_t w, int edits)
{
        struct match *match = &work->comparison->match;

        if (match->partner[v] >= 0)
                work->back[match->partner[v]] = -1;
        if (work->back[w] >= 0)
                match->partner[work->back[w]] = -1;
        match->partner[v] = w;
        match->distance[v] = (uint8_t)edits;
        work->back[w] = v;
}

/* Pairs tasks of one name. True: it made pairs, after which others may be the nearest. */
static bool pair_group(struct work *work, struct leftover *a, size_t n_a, struct leftover *b, size_t n_b,
                       char *left_a, char *left_b)
{
        bool any = false;

        for (size_t i = 0; i < n_a; i++)
                a[i] = (struct leftover){ a[i].node, -1, work->alpha + 1 };
        for (size_t j = 0; j < n_b; j++)
                b[j] = (struct leftover){ b[j].node, -1, work->alpha + 1 };
        for (size_t i = 0; i < n_a; i++) {
                for (size_t j = 0; left_a[a[i].node] && j < n_b; j++) {
                        int there;

                        if (!left_b[b[j].node] || work->pairs++ > PAIRS_MAX)
                                continue;
                        there = distance(work, a[i].node, b[j].node);
                        if (there > most_edits(work, a[i].node, b[j].node))
                                continue;
                        offer(&a[i], (int32_t)j, there);
                        offer(&b[j], (int32_t)i, there);
                }
        }
        for (size_t i = 0; i < n_a; i++) {
                int32_t j = a[i].nearest;

                if (j < 0 || b[j].nearest != (int32_t)i)
                        continue;
                join(work, a[i].node, b[j].node, a[i].distance);
                left_a[a[i].node] = left_b[b[j].node] = 0;
                any = true;
        }
        return any;
}

struct sorted {
        int32_t label, node;
};

static int compare_sorted(const void *a, const void *b)
{
        const struct sorted *x = a, *y = b;

        if (x->label != y->label)
                return x->label < y->label ? -1 : 1;
        return (x->node > y->node) - (x->node < y->node);
}

static struct sorted *list_left(const struct tree *tree, const char *left, size_t *n)
{
        struct sorted *list = calloc((uint32_t)tree->n, sizeof(*list));

        *n = 0;
        for (int32_t i = 0; list && i < tree->n; i++)
                if (left[i])
                        list[(*n)++] = (struct sorted){ tree->label[i], i };
        if (list)
                qsort(list, *n, sizeof(*list), compare_sorted);
        return list;
}

static size_t take_group(const struct sorted *list, size_t n, int32_t label, struct leftover *group)
{
        size_t taken = 0;

        for (; taken < n && list[taken].label == label; taken++)
                group[taken].node = list[taken].node;
        return taken;
}

/* The partner of each node of B; -1: none. NULL: no memory. */
static int32_t *turn(const struct match *match, int32_t n_a, int32_t n_b)
{
        int32_t *back = malloc((uint32_t)n_b * sizeof(*back));

        for (int32_t w = 0; back && w < n_b; w++)
                back[w] = -1;
        for (int32_t v = 0; back && v < n_a; v++)
                if (match->partner[v] >= 0)
                        back[match->partner[v]] = v;
        return back;
}

static int32_t depth_of(const struct tree *tree)
{
        int32_t most = 0;

        for (int32_t i = 0; i < tree->n; i++)
                most = MAX(most, tree->depth[i]);
        return most;
}

int leftover_pair(struct comparison *comparison, int alpha, char *left_a, char *left_b)
{
        const struct tree *a = &comparison->a->contexts.tree, *b = &comparison->b->contexts.tree;
        _cleanup_(work_clear) struct work work = { .comparison = comparison, .alpha = alpha };
        size_t n_a, n_b, depth_a = (size_t)depth_of(a) + 1, depth_b = (size_t)depth_of(b) + 1, i = 0, j = 0, of_a, of_b;
        _cleanup_free_ struct sorted *list_a = list_left(a, left_a, &n_a), *list_b = list_left(b, left_b, &n_b);
        _cleanup_free_ struct leftover *group_a = calloc((uint32_t)a->n, sizeof(*group_a)),
                                       *group_b = calloc((uint32_t)b->n, sizeof(*group_b));

        work.path_a = calloc(depth_a, sizeof(*work.path_a));
        work.path_b = calloc(depth_b, sizeof(*work.path_b));
        work.row = calloc(depth_b + 1, 1);
        work.back = turn(&comparison->match, a->n, b->n);
        if (!list_a || !list_b || !group_a || !group_b || !work.path_a || !work.path_b || !work.row || !work.back)
                return -ENOMEM;
        while (i < n_a && j < n_b) {
                if (list_a[i].label != list_b[j].label) {
                        if (list_a[i].label < list_b[j].label)
                                i++;
                        else
                                j++;
                        continue;
                }
                of_a = take_group(list_a + i, n_a - i, list_a[i].label, group_a);
                of_b = take_group(list_b + j, n_b - j, list_b[j].label, group_b);
                while (pair_group(&work, group_a, of_a, group_b, of_b, left_a, left_b))
                        ;
                i += of_a;
                j += of_b;
        }
        return 0;
}
