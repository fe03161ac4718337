/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Shortest augmenting paths over prices, for rows and columns that need not all be matched: a path may end
 * at a free column, or at a row that is left out because its price has sunk to 0. Always: row price +
 * column price >= weight, with equality on the edges that match; lines that are not matched have the price 0.
 * So the sum of all prices is the answer.
 */

#include "assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

struct assign_step {
        int64_t distance;
        int32_t column;
};

int assign_make(struct assign *assign, int32_t n_nodes, size_t edges, size_t steps)
{
        assign->edges = edges;
        assign->steps = steps;
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
        free(assign->seen);
        *assign = (struct assign){ 0 };
}

int assign_add(struct assign *assign, int32_t row, int32_t column, int64_t weight)
{
        if (assign->n >= assign->edges)
                return -E2BIG;
        if (assign->n + 1 > assign->capacity &&
            util_grow(&assign->edge, &assign->capacity, assign->n + 1, sizeof(*assign->edge)) < 0)
                return -ENOMEM;
        assign->edge[assign->n++] = (struct assign_edge){ row, column, weight };
        return 0;
}

/*
 * An upper bound of the answer: the sum of each row's greatest edge, or of each column's, whichever is less. @exact:
 * the answer is equal to it, because the greatest edges of all rows are in different columns.
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

/* Lists the lines of the matrix, and replaces nodes in edges by numbers of lines. Columns count from 1. */
static int number_lines(struct assign *assign)
{
        size_t rows = 0, columns = 0;
        int32_t node = -1;

        for (size_t i = 0; i < assign->n; i++) {
                rows += i == 0 || assign->edge[i].row != assign->edge[i - 1].row;
                if (assign->index[assign->edge[i].column] == 0)
                        assign->index[assign->edge[i].column] = (int32_t)++columns;
        }
        if ((rows + 1 > assign->rows && util_grow(&assign->row, &assign->rows, rows + 1, sizeof(*assign->row)) < 0) ||
            (columns + 1 > assign->columns &&
             util_grow(&assign->column, &assign->columns, columns + 1, sizeof(*assign->column)) < 0) ||
            (columns > assign->seens && util_grow(&assign->seen, &assign->seens, columns, sizeof(*assign->seen)) < 0))
                return -ENOMEM;
        assign->n_rows = 0;
        assign->n_columns = columns;
        for (size_t i = 0; i < assign->n; i++) {
                struct assign_edge *edge = &assign->edge[i];
                int32_t c = assign->index[edge->column];

                if (edge->row != node)
                        assign->row[assign->n_rows++].node = node = edge->row;
                assign->column[c] = (struct assign_line){ .node = edge->column, .edge = -1 };
                edge->row = (int32_t)assign->n_rows - 1;
                edge->column = c;
        }
        for (size_t c = 1; c <= columns; c++)
                assign->index[assign->column[c].node] = 0;
        return 0;
}

/*
 * Begins with the greatest weight of each row as its price. A row is matched with the first column of that weight
 * which no row before it has.
 */
static void begin(struct assign *assign)
{
        int32_t at = 0, last = (int32_t)assign->n;

        for (size_t r = 0; r < assign->n_rows; r++) {
                struct assign_line *row = &assign->row[r];

                *row = (struct assign_line){ .node = row->node, .first = at, .edge = -1 };
                for (; at < last && assign->edge[at].row == (int32_t)r; at++)
                        row->price = MAX(row->price, assign->edge[at].weight);
                for (int32_t i = row->first; i < at && row->edge < 0; i++) {
                        struct assign_line *column = &assign->column[assign->edge[i].column];

                        if (assign->edge[i].weight == row->price && column->edge < 0)
                                row->edge = column->edge = i;
                }
        }
        assign->row[assign->n_rows] = (struct assign_line){ .first = last };
}

/* The order of the heap: the nearest column first; ties go to the first column. */
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

/*
 * Reaches the columns beside a row that the search has reached at @distance. Only those nearer than @best matter.
 * Return: a free column at that distance, because none can be nearer; 0: none; -E2BIG; -ENOMEM.
 */
static int look_around(struct assign *assign, int32_t r, int64_t distance, int64_t best)
{
        const struct assign_line *row = &assign->row[r];

        if (assign->steps < (size_t)(row[1].first - row->first))
                return -E2BIG;
        assign->steps -= (size_t)(row[1].first - row->first);
        for (int32_t e = row->first; e < row[1].first; e++) {
                int32_t c = assign->edge[e].column;
                struct assign_line *column = &assign->column[c];
                int64_t there = distance + row->price + column->price - assign->edge[e].weight;

                if (there >= best || (column->seen == assign->search && column->distance <= there))
                        continue;
                if (column->seen != assign->search)
                        assign->seen[assign->n_seen++] = c;
                column->seen = assign->search;
                column->distance = there;
                column->from = e;
                if (there == distance && column->edge < 0)
                        return c;
                if (push(assign, there, c) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Matches along the path that ends at column @c, back to the row that the search began with. */
static void flip(struct assign *assign, int32_t c)
{
        while (c > 0) {
                struct assign_line *column = &assign->column[c];
                struct assign_line *row = &assign->row[assign->edge[column->from].row];
                int32_t old = row->edge;

                row->edge = column->edge = column->from;
                c = old < 0 ? 0 : assign->edge[old].column;
        }
}

static void lower_prices(struct assign *assign, int32_t start, int64_t best)
{
        assign->row[start].price -= best;
        for (size_t i = 0; i < assign->n_seen; i++) {
                struct assign_line *column = &assign->column[assign->seen[i]];

                if (column->distance >= best)
                        continue;
                column->price += best - column->distance;
                if (column->edge >= 0)
                        assign->row[assign->edge[column->edge].row].price -= best - column->distance;
        }
}

/* Matches one more row: searches a path to a free column, or to the row that costs least to leave out. */
static int augment(struct assign *assign, int32_t start)
{
        int64_t best = assign->row[start].price; /* leave itself out */
        int32_t end = 0, left_out = start;
        int found;

        assign->search++;
        assign->n_heap = assign->n_seen = 0;
        found = look_around(assign, start, 0, best);
        while (found == 0 && assign->n_heap > 0) {
                struct assign_step step = pop(assign);
                const struct assign_line *column = &assign->column[step.column];
                int32_t row;

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
                row = assign->edge[column->edge].row;
                if (step.distance + assign->row[row].price < best) {
                        best = step.distance + assign->row[row].price;
                        end = step.column;
                        left_out = row;
                }
                found = look_around(assign, row, step.distance, best);
        }
        if (found < 0)
                return found;
        if (found > 0) {
                best = assign->column[found].distance;
                end = found;
                left_out = -1;
        }
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
        err = number_lines(assign);
        if (err == 0)
                begin(assign);
        assign->search = 0;
        for (size_t r = 0; err == 0 && r < assign->n_rows; r++)
                if (assign->row[r].edge < 0)
                        err = augment(assign, (int32_t)r);
        for (size_t r = 0; err == 0 && r < assign->n_rows; r++)
                sum += assign->row[r].edge >= 0 ? assign->edge[assign->row[r].edge].weight : 0;
        assign->n = 0;
        return err < 0 ? err : sum;
}

int64_t assign_value(struct assign *assign, int64_t enough, bool *solved)
{
        bool exact;
        int64_t most = bound(assign, &exact);

        *solved = most > enough && !exact;
        return *solved ? assign_solve(assign) : most;
}
