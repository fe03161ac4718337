/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Shortest augmenting paths over prices, for rows and columns that need not all be matched: a path may end at a free column,
 * or at a row that is left out because its price has sunk to 0. Always: row price + column price >= weight, with equality on
 * the edges that match; what is not matched has the price 0. So the sum of all prices is the answer.
 */

#include "assign.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

struct assign_step {
        int64_t distance;
        int32_t column;
};

int assign_make(struct assign *assign, int32_t n_nodes)
{
        assign->best = calloc((size_t)n_nodes, sizeof(*assign->best));
        assign->index = calloc((size_t)n_nodes, sizeof(*assign->index));
        return assign->best && assign->index ? 0 : -ENOMEM;
}

void assign_clear(struct assign *assign)
{
        free(assign->edge);
        free(assign->row);
        free(assign->column);
        free(assign->best);
        free(assign->index);
        free(assign->heap);
        *assign = (struct assign){ 0 };
}

int assign_add(struct assign *assign, int32_t row, int32_t column, int64_t weight)
{
        if (assign->n + 1 > assign->capacity &&
            util_grow(&assign->edge, &assign->capacity, assign->n + 1, sizeof(*assign->edge)) < 0)
                return -ENOMEM;
        assign->edge[assign->n++] = (struct assign_edge){ row, column, weight };
        return 0;
}

/*
 * No matching is better than the sum of each row's greatest edge, nor of each column's. @exact: this one is as good, since
 * the greatest edges of all rows are in different columns, or the other way round.
 */
static int64_t bound(struct assign *assign, bool *exact)
{
        int64_t rows = 0, columns = 0, unlike = 0, row_best = 0;
        int32_t row_column = -1;

        for (size_t i = 0; i <= assign->n; i++) {
                const struct assign_edge *edge = i < assign->n ? &assign->edge[i] : NULL;

                if (i > 0 && (!edge || edge->row != edge[-1].row)) {
                        rows += row_best;
                        unlike += assign->index[row_column] ? 1 : 0;
                        assign->index[row_column] = 1;
                        row_best = 0;
                }
                if (!edge)
                        break;
                if (edge->weight > row_best) {
                        row_best = edge->weight;
                        row_column = edge->column;
                }
                if (edge->weight > assign->best[edge->column]) {
                        columns += edge->weight - assign->best[edge->column];
                        assign->best[edge->column] = edge->weight;
                }
        }
        for (size_t i = 0; i < assign->n; i++) {
                assign->best[assign->edge[i].column] = 0;
                assign->index[assign->edge[i].column] = 0;
        }
        *exact = unlike == 0 && rows <= columns;
        return MIN(rows, columns);
}

static int make_room(struct assign *assign)
{
        size_t n_rows = 2, n_columns = 1;

        for (size_t i = 1; i < assign->n; i++)
                n_rows += assign->edge[i].row != assign->edge[i - 1].row;
        for (size_t i = 0; i < assign->n; i++) {
                if (assign->index[assign->edge[i].column] == 0)
                        assign->index[assign->edge[i].column] = (int32_t)n_columns++; /* from 1 */
        }
        if ((n_rows > assign->rows && util_grow(&assign->row, &assign->rows, n_rows, sizeof(*assign->row)) < 0) ||
            (n_columns > assign->columns &&
             util_grow(&assign->column, &assign->columns, n_columns, sizeof(*assign->column)) < 0))
                return -ENOMEM;
        assign->n_rows = n_rows - 1;
        assign->n_columns = n_columns - 1;
        return 0;
}

/* Prices begin with the greatest edge of each row; the first row that wants a column has it. */
static void begin(struct assign *assign)
{
        size_t at = 0, last = assign->n;

        memset(assign->column, 0, (assign->n_columns + 1) * sizeof(*assign->column));
        for (size_t i = 0; i <= assign->n_columns; i++)
                assign->column[i].edge = -1;
        for (size_t r = 0; r < assign->n_rows; r++) {
                struct assign_line *row = &assign->row[r];
                size_t best = at;

                *row = (struct assign_line){ .node = assign->edge[at].row, .first = (int32_t)at, .edge = -1 };
                for (; at < last && assign->edge[at].row == row->node; at++)
                        best = assign->edge[at].weight > assign->edge[best].weight ? at : best;
                row->price = assign->edge[best].weight;
                if (assign->column[assign->index[assign->edge[best].column]].edge < 0) {
                        row->edge = (int32_t)best;
                        assign->column[assign->index[assign->edge[best].column]].edge = (int32_t)best;
                        assign->column[assign->index[assign->edge[best].column]].node = (int32_t)r;
                }
        }
        assign->row[assign->n_rows] = (struct assign_line){ .first = (int32_t)assign->n };
}

/* The heap: the nearest column first, of equal ones the first. */
static bool before(const struct assign_step *a, const struct assign_step *b)
{
        return a->distance != b->distance ? a->distance < b->distance : a->column < b->column;
}

static int push(struct assign *assign, int64_t distance, int32_t column)
{
        struct assign_step step = { distance, column };
        size_t at = assign->n_heap;

        if (at + 1 > assign->heaps && util_grow(&assign->heap, &assign->heaps, at + 1, sizeof(*assign->heap)) < 0)
                return -ENOMEM;
        for (assign->n_heap++; at > 0 && before(&step, &assign->heap[(at - 1) / 2]); at = (at - 1) / 2)
                assign->heap[at] = assign->heap[(at - 1) / 2];
        assign->heap[at] = step;
        return 0;
}

static struct assign_step pop(struct assign *assign)
{
        struct assign_step top = assign->heap[0], step = assign->heap[--assign->n_heap];
        size_t at = 0, child;

        while ((child = at * 2 + 1) < assign->n_heap) {
                child += child + 1 < assign->n_heap && before(&assign->heap[child + 1], &assign->heap[child]);
                if (!before(&assign->heap[child], &step))
                        break;
                assign->heap[at] = assign->heap[child];
                at = child;
        }
        assign->heap[at] = step;
        return top;
}

/* Columns beside a row that the search has reached at @distance. Only those nearer than @best matter. */
static int look_around(struct assign *assign, int32_t r, int64_t distance, int64_t best)
{
        const struct assign_line *row = &assign->row[r];

        for (int32_t e = row->first; e < row[1].first; e++) {
                int32_t c = assign->index[assign->edge[e].column];
                struct assign_line *column = &assign->column[c];
                int64_t there = distance + row->price + column->price - assign->edge[e].weight;

                if (there >= best || (column->seen == assign->search && column->distance <= there))
                        continue;
                column->seen = assign->search;
                column->distance = there;
                column->from = e;
                if (push(assign, there, c) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* The row of an edge that a search came by; rows are found by halving, as edges know only nodes. */
static int32_t row_of(const struct assign *assign, int32_t edge)
{
        size_t low = 0, high = assign->n_rows;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;

                if (assign->row[middle].first <= edge)
                        low = middle;
                else
                        high = middle;
        }
        return (int32_t)low;
}

/* Matches along the path that ends at column @c, back to the row that the search began with. */
static void flip(struct assign *assign, int32_t c)
{
        while (c > 0) {
                struct assign_line *column = &assign->column[c];
                int32_t r = row_of(assign, column->from), old = assign->row[r].edge;

                column->edge = column->from;
                column->node = r;
                assign->row[r].edge = column->from;
                c = old < 0 ? 0 : assign->index[assign->edge[old].column];
        }
}

static void lower_prices(struct assign *assign, int32_t start, int64_t best)
{
        assign->row[start].price -= best;
        for (size_t c = 1; c <= assign->n_columns; c++) {
                struct assign_line *column = &assign->column[c];

                if (column->seen != assign->search || column->distance >= best)
                        continue;
                column->price += best - column->distance;
                if (column->edge >= 0)
                        assign->row[column->node].price -= best - column->distance;
        }
}

/* One more row: to a free column, or to the row that costs least to leave out. */
static int augment(struct assign *assign, int32_t start)
{
        int64_t best = assign->row[start].price; /* leave itself out */
        int32_t end = 0, left_out = start;
        int err;

        assign->search++;
        assign->n_heap = 0;
        err = look_around(assign, start, 0, best);
        while (err == 0 && assign->n_heap > 0) {
                struct assign_step step = pop(assign);
                const struct assign_line *column = &assign->column[step.column];

                if (step.distance >= best)
                        break;
                if (step.distance > column->distance)
                        continue;
                if (column->edge < 0) {
                        best = step.distance;
                        end = step.column;
                        left_out = -1;
                        break;
                }
                if (step.distance + assign->row[column->node].price < best) {
                        best = step.distance + assign->row[column->node].price;
                        end = step.column;
                        left_out = column->node;
                }
                err = look_around(assign, column->node, step.distance, best);
        }
        if (err < 0)
                return err;
        lower_prices(assign, start, best);
        if (left_out >= 0)
                assign->row[left_out].edge = -1;
        flip(assign, end);
        return 0;
}

int64_t assign_solve(struct assign *assign)
{
        int64_t sum = 0;
        int err;

        if (assign->n == 0) {
                assign->n_rows = 0;
                return 0;
        }
        err = make_room(assign);
        if (err == 0)
                begin(assign);
        assign->search = 0;
        for (size_t r = 0; err == 0 && r < assign->n_rows; r++)
                if (assign->row[r].edge < 0)
                        err = augment(assign, (int32_t)r);
        for (size_t r = 0; err == 0 && r < assign->n_rows; r++)
                sum += assign->row[r].edge >= 0 ? assign->edge[assign->row[r].edge].weight : 0;
        for (size_t i = 0; i < assign->n; i++)
                assign->index[assign->edge[i].column] = 0;
        return err < 0 ? err : sum;
}

int64_t assign_value(struct assign *assign, int64_t enough)
{
        bool exact;
        int64_t most = bound(assign, &exact);

        return most <= enough || exact ? most : assign_solve(assign);
}
