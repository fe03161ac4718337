/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bipartite.h"

#include <errno.h>
#include <stdlib.h>

#include "util/util.h"

enum seen {
        SEEN_GIVEN = 1, /* in a pair that was added */
        SEEN_ANY = 2,   /* goes with any */
};

int bipartite_make(struct bipartite *bipartite, const struct tree *a, const struct tree *b, int64_t filler,
                   size_t edges, size_t steps)
{
        *bipartite = (struct bipartite){ .a = a, .b = b, .filler = filler, .kept_v = -1 };
        bipartite->seen_a = calloc((size_t)a->n, 1);
        bipartite->seen_b = calloc((size_t)b->n, 1);
        if (!bipartite->seen_a || !bipartite->seen_b)
                return -ENOMEM;
        return assign_make(&bipartite->assign, b->n, edges, steps);
}

void bipartite_clear(struct bipartite *bipartite)
{
        assign_clear(&bipartite->assign);
        free(bipartite->given);
        free(bipartite->row);
        free(bipartite->column);
        free(bipartite->seen_a);
        free(bipartite->seen_b);
        free(bipartite->pair);
        free(bipartite->kept);
        *bipartite = (struct bipartite){ 0 };
}

void bipartite_begin(struct bipartite *bipartite, int32_t v, int32_t w, bool all)
{
        bipartite->v = v;
        bipartite->w = w;
        bipartite->all = all;
        bipartite->assign.n = bipartite->n_given = bipartite->n_rows = bipartite->n_columns = 0;
}

int bipartite_add(struct bipartite *bipartite, int32_t x, int32_t y, int64_t weight)
{
        if (bipartite->all)
                weight -= bipartite->filler;
        return weight > 0 ? assign_add(&bipartite->assign, x, y, weight) : 0;
}

static int add(int32_t **list, size_t *n, size_t *capacity, int32_t node)
{
        if (*n >= *capacity && util_grow(list, capacity, *n + 1, sizeof(**list)) < 0)
                return -ENOMEM;
        (*list)[(*n)++] = node;
        return 0;
}

int bipartite_add_row(struct bipartite *bipartite, int32_t x)
{
        return add(&bipartite->row, &bipartite->n_rows, &bipartite->rows, x);
}

int bipartite_add_column(struct bipartite *bipartite, int32_t y)
{
        return add(&bipartite->column, &bipartite->n_columns, &bipartite->columns, y);
}

static int32_t width(const struct tree *tree, int32_t node)
{
        return tree->first[node + 1] - tree->first[node];
}

static int32_t smaller_width(const struct bipartite *bipartite, int32_t v, int32_t w)
{
        return MIN(width(bipartite->a, v), width(bipartite->b, w));
}

/* The sum of fillers where each child goes with any: a filler for each child of the narrower node. Else 0. */
static int64_t base_of(const struct bipartite *bipartite)
{
        return bipartite->all ? smaller_width(bipartite, bipartite->v, bipartite->w) * bipartite->filler : 0;
}

/*
 * Adds fillers of a row that goes with any column: to each column that other edges or fillers have, too. The other
 * columns are alike, and no more of them are needed than there are such rows.
 */
static int fill_row(struct bipartite *bipartite, int32_t x)
{
        const struct tree *b = bipartite->b;
        size_t others = 0;

        for (int32_t i = b->first[bipartite->w]; i < b->first[bipartite->w + 1]; i++) {
                int32_t y = b->child[i];

                if (!bipartite->seen_b[y] && others++ >= bipartite->n_rows)
                        continue;
                if (assign_add(&bipartite->assign, x, y, bipartite->filler) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int fill_columns(struct bipartite *bipartite, int32_t x)
{
        for (size_t i = 0; i < bipartite->n_columns; i++)
                if (assign_add(&bipartite->assign, x, bipartite->column[i], bipartite->filler) < 0)
                        return -ENOMEM;
        return 0;
}

static int fill_all(struct bipartite *bipartite)
{
        const struct tree *a = bipartite->a;
        struct assign_edge *given = bipartite->given;
        size_t others = 0;
        int err = 0;

        for (size_t i = 0; err == 0 && i < bipartite->n_given; i++) {
                err = assign_add(&bipartite->assign, given[i].row, given[i].column, given[i].weight);
                if (err == 0 && (i + 1 == bipartite->n_given || given[i + 1].row != given[i].row))
                        err = bipartite->seen_a[given[i].row] & SEEN_ANY ? fill_row(bipartite, given[i].row) :
                                                                          fill_columns(bipartite, given[i].row);
        }
        for (int32_t i = a->first[bipartite->v]; err == 0 && i < a->first[bipartite->v + 1]; i++) {
                int32_t x = a->child[i];

                if (bipartite->seen_a[x] == SEEN_ANY)
                        err = fill_row(bipartite, x);
                else if (!bipartite->seen_a[x] && others++ < bipartite->n_columns)
                        err = fill_columns(bipartite, x);
        }
        return err;
}

static void see(struct bipartite *bipartite, bool on)
{
        for (size_t i = 0; i < bipartite->n_given; i++) {
                bipartite->seen_a[bipartite->given[i].row] = on ? SEEN_GIVEN : 0;
                bipartite->seen_b[bipartite->given[i].column] = on ? SEEN_GIVEN : 0;
        }
        for (size_t i = 0; i < bipartite->n_rows; i++)
                bipartite->seen_a[bipartite->row[i]] = on ? bipartite->seen_a[bipartite->row[i]] | SEEN_ANY : 0;
        for (size_t i = 0; i < bipartite->n_columns; i++)
                bipartite->seen_b[bipartite->column[i]] = on ? bipartite->seen_b[bipartite->column[i]] | SEEN_ANY : 0;
}

/* Adds the fillers as edges. */
static int expand(struct bipartite *bipartite)
{
        struct assign *assign = &bipartite->assign;
        struct assign_edge *given = bipartite->given;
        size_t capacity = bipartite->givens;
        int err;

        bipartite->given = assign->edge;
        bipartite->givens = assign->capacity;
        bipartite->n_given = assign->n;
        assign->edge = given;
        assign->capacity = capacity;
        assign->n = 0;
        see(bipartite, true);
        err = fill_all(bipartite);
        see(bipartite, false);
        return err;
}

/* The answer where no pair was added: then rows and columns that go with any are equally good. */
static int64_t count_any(const struct bipartite *bipartite)
{
        size_t most = (size_t)smaller_width(bipartite, bipartite->v, bipartite->w);

        return (int64_t)MIN(most, bipartite->n_rows + bipartite->n_columns) * bipartite->filler;
}

static int list_pair(struct bipartite_pair **list, size_t *n, size_t *capacity, int32_t x, int32_t y)
{
        if (*n >= *capacity && util_grow(list, capacity, *n + 1, sizeof(**list)) < 0)
                return -ENOMEM;
        (*list)[(*n)++] = (struct bipartite_pair){ x, y };
        return 0;
}

/* Lists the pairs that assign_solve() found. */
static int list_pairs(const struct assign *assign, struct bipartite_pair **list, size_t *n, size_t *capacity)
{
        *n = 0;
        for (size_t r = 0; r < assign->n_rows; r++) {
                int32_t edge = assign->row[r].edge;

                if (edge >= 0 && list_pair(list, n, capacity, assign->row[r].node,
                                           assign->column[assign->edge[edge].column].node) < 0)
                        return -ENOMEM;
        }
        return 0;
}

bool bipartite_is_kept(const struct bipartite *bipartite, int32_t v, int32_t w)
{
        return bipartite->kept_v == v && bipartite->kept_w == w;
}

static int keep(struct bipartite *bipartite, size_t edges, int64_t value)
{
        bipartite->kept_edges = edges;
        bipartite->kept_v = bipartite->v;
        bipartite->kept_w = bipartite->w;
        bipartite->kept_value = value;
        return list_pairs(&bipartite->assign, &bipartite->kept, &bipartite->n_kept, &bipartite->kepts);
}

int64_t bipartite_value(struct bipartite *bipartite, int64_t enough)
{
        int64_t base = base_of(bipartite), value;
        bool any = bipartite->n_rows + bipartite->n_columns > 0, solved;
        int err = 0;
        size_t edges;

        if (any && bipartite->assign.n == 0)
                return count_any(bipartite);
        if (any)
                err = expand(bipartite);
        if (err < 0)
                return err;
        edges = bipartite->assign.n;
        value = assign_value(&bipartite->assign, enough - base, &solved);
        if (value < 0)
                return value;
        if (solved && edges > bipartite->kept_edges && keep(bipartite, edges, base + value) < 0)
                return -ENOMEM;
        return base + value;
}

/* Pairs the children that are left, in order. */
static int choose_rest(struct bipartite *bipartite)
{
        const struct tree *a = bipartite->a, *b = bipartite->b;
        int32_t i = a->first[bipartite->v], j = b->first[bipartite->w];
        size_t n = bipartite->n;
        int err = 0;

        for (size_t k = 0; k < n; k++)
                bipartite->seen_a[bipartite->pair[k].x] = bipartite->seen_b[bipartite->pair[k].y] = 1;
        while (err == 0 && i < a->first[bipartite->v + 1] && j < b->first[bipartite->w + 1]) {
                if (bipartite->seen_a[a->child[i]])
                        i++;
                else if (bipartite->seen_b[b->child[j]])
                        j++;
                else
                        err = list_pair(&bipartite->pair, &bipartite->n, &bipartite->pairs, a->child[i++],
                                        b->child[j++]);
        }
        for (size_t k = 0; k < n; k++)
                bipartite->seen_a[bipartite->pair[k].x] = bipartite->seen_b[bipartite->pair[k].y] = 0;
        return err;
}

static int64_t solve(struct bipartite *bipartite)
{
        int64_t base = base_of(bipartite), value;
        const struct bipartite_pair *kept = bipartite->kept;
        int err = 0;

        if (bipartite_is_kept(bipartite, bipartite->v, bipartite->w)) {
                bipartite->n = 0;
                for (size_t i = 0; err == 0 && i < bipartite->n_kept; i++)
                        err = list_pair(&bipartite->pair, &bipartite->n, &bipartite->pairs, kept[i].x, kept[i].y);
                return err < 0 ? err : bipartite->kept_value;
        }
        if (bipartite->n_rows + bipartite->n_columns > 0)
                err = expand(bipartite);
        value = err < 0 ? err : assign_solve(&bipartite->assign);
        if (value < 0)
                return value;
        err = list_pairs(&bipartite->assign, &bipartite->pair, &bipartite->n, &bipartite->pairs);
        return err < 0 ? err : base + value;
}

int64_t bipartite_solve(struct bipartite *bipartite)
{
        int64_t value = solve(bipartite);

        if (value >= 0 && bipartite->all && choose_rest(bipartite) < 0)
                return -ENOMEM;
        return value;
}
