/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "matrix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

void matrix_clear(struct matrix *matrix)
{
        for (size_t i = 0; i < matrix->n; i++)
                free(matrix->rows[i].cells);
        free(matrix->rows);
        for (size_t i = 0; matrix->next && i < matrix->n_sides; i++)
                free(matrix->next[i]);
        free(matrix->next);
        free(matrix->steps);
        *matrix = (struct matrix){ 0 };
}

const char *matrix_name(const struct matrix *matrix, const struct matrix_row *row, char *buf, size_t size)
{
        return task_name(matrix->labels, matrix->sides[row->shown].contexts.shown[row->cells[row->shown].node],
                         buf, size);
}

const char *matrix_from(const struct matrix *matrix, const struct matrix_row *row, char *buf, size_t size)
{
        return task_from(&matrix->sides[row->shown], matrix->labels, row->cells[row->shown].node, buf, size);
}

static int add_row(struct matrix *matrix, size_t side, int32_t node)
{
        struct task_side *cells = calloc(matrix->n_sides, sizeof(*cells));

        if (!cells || util_grow(&matrix->rows, &matrix->capacity, matrix->n + 1, sizeof(*matrix->rows)) < 0) {
                free(cells);
                return -ENOMEM;
        }
        for (size_t i = 0; i < matrix->n_sides; i++)
                cells[i].node = -1;
        cells[side].node = node;
        matrix->rows[matrix->n++] = (struct matrix_row){ .cells = cells, .shown = side };
        return 0;
}

/* Row + 1 of each program's nodes; 0: none. */
struct where {
        int32_t **row;
        size_t n;
};

static void where_clear(struct where *where)
{
        for (size_t i = 0; where->row && i < where->n; i++)
                free(where->row[i]);
        free(where->row);
}

/* Counts the other places of a task that is done elsewhere in @row, too. They get no rows of their own. */
static void take_chain(struct matrix *matrix, struct where *where, size_t side, const int32_t *next, int32_t node,
                       int32_t row)
{
        int32_t last = node;

        while (matrix->next[side][last])
                last = matrix->next[side][last];
        for (int32_t at = next[node]; at > 0; at = next[at]) {
                int32_t own = where->row[side][at] - 1;

                if (own == row || (own >= 0 && matrix->rows[own].cells[side].node != at))
                        continue; /* it is counted already */
                if (own >= 0)
                        matrix->rows[own].cells[side].node = -1;
                matrix->next[side][last] = at;
                for (; matrix->next[side][last]; last = matrix->next[side][last])
                        where->row[side][matrix->next[side][last]] = row + 1;
        }
}

static bool is_empty(const struct matrix *matrix, const struct matrix_row *row)
{
        for (size_t i = 0; i < matrix->n_sides; i++)
                if (row->cells[i].node >= 0)
                        return false;
        return true;
}

/* Removes rows whose places are all counted in other rows. */
static void drop_empty(struct matrix *matrix)
{
        size_t n = 0;

        for (size_t i = 0; i < matrix->n; i++) {
                struct matrix_row *row = &matrix->rows[i];

                if (is_empty(matrix, row)) {
                        free(row->cells);
                        continue;
                }
                while (row->cells[row->shown].node < 0)
                        row->shown = (row->shown + 1) % matrix->n_sides;
                matrix->rows[n++] = *row;
        }
        matrix->n = n;
}

/*
 * Puts tasks of a program into the rows of their partners in an earlier one. The number of tasks that have no
 * row yet; or a negative errno.
 */
static int64_t join(struct matrix *matrix, struct where *where, size_t earlier, size_t side)
{
        _cleanup_(comparison_clear) struct comparison comparison = { 0 };
        int64_t left = 0;
        int err = comparison_match(&matrix->sides[earlier], &matrix->sides[side], matrix->labels,
                                   &matrix->wish, &comparison);

        if (err < 0)
                return err;
        matrix->fell_back |= comparison.fell_back;
        matrix->alpha = MIN(matrix->alpha, comparison.match.alpha);
        matrix->alpha_most = MAX(matrix->alpha_most, comparison.match.alpha);
        for (size_t i = 0; i < comparison.n; i++) {
                const struct task *task = &comparison.tasks[i];
                int32_t row;

                if (task->match != TASK_BOTH || where->row[side][task->b.node])
                        continue;
                row = where->row[earlier][task->a.node] - 1;
                if (matrix->rows[row].cells[side].node >= 0)
                        continue;
                matrix->rows[row].cells[side].node = task->b.node;
                where->row[side][task->b.node] = row + 1;
                take_chain(matrix, where, earlier, comparison.next_a, task->a.node, row);
                take_chain(matrix, where, side, comparison.next_b, task->b.node, row);
        }
        for (int32_t i = 0; i < matrix->sides[side].contexts.tree.n; i++)
                left += contexts_is_task(&matrix->sides[side].contexts, matrix->labels, i) && !where->row[side][i];
        return left;
}

static int add_side(struct matrix *matrix, struct where *where, size_t side)
{
        const struct contexts *contexts = &matrix->sides[side].contexts;
        int64_t left = 1;
        int err = 0;

        where->row[side] = calloc((size_t)contexts->tree.n, sizeof(**where->row));
        matrix->next[side] = calloc((size_t)contexts->tree.n, sizeof(**matrix->next));
        if (!where->row[side] || !matrix->next[side])
                return -ENOMEM;
        for (size_t earlier = side; left > 0 && earlier-- > 0;)
                left = join(matrix, where, earlier, side);
        if (left < 0)
                return (int)left;
        for (int32_t i = 1; err == 0 && i < contexts->tree.n; i++) {
                if (!contexts_is_task(contexts, matrix->labels, i) || where->row[side][i])
                        continue;
                err = add_row(matrix, side, i);
                where->row[side][i] = (int32_t)matrix->n;
        }
        return err;
}

static int list_rows(struct matrix *matrix)
{
        _cleanup_(where_clear) struct where where = { calloc(matrix->n_sides, sizeof(*where.row)), matrix->n_sides };
        int err = where.row ? 0 : -ENOMEM;

        matrix->next = calloc(matrix->n_sides, sizeof(*matrix->next));
        if (!matrix->next)
                err = -ENOMEM;
        for (size_t i = 0; err == 0 && i < matrix->n_sides; i++)
                err = add_side(matrix, &where, i);
        drop_empty(matrix);
        return err;
}

static void compare_cells(const struct matrix *matrix, struct matrix_row *row)
{
        for (size_t i = 0; i < matrix->n_sides; i++) {
                if (row->cells[i].sampled.value > row->cells[row->dearest].sampled.value)
                        row->dearest = i;
                if (row->cells[i].sampled.value < row->cells[row->cheapest].sampled.value)
                        row->cheapest = i;
        }
        row->difference = estimate_difference(row->cells[row->dearest].sampled,
                                              row->cells[row->cheapest].sampled, 1, ESTIMATE_Z);
}

static int measure(struct matrix *matrix)
{
        _cleanup_free_ double *p = calloc(matrix->n + 1, sizeof(*p));
        double pairs = (double)(matrix->n_sides * (matrix->n_sides - 1)) / 2;
        int err;

        if (!p)
                return -ENOMEM;
        for (size_t side = 0; side < matrix->n_sides; side++) {
                _cleanup_free_ double *calls = NULL;

                if (task_count_calls(&matrix->sides[side], matrix->labels, &calls) < 0)
                        return -ENOMEM;
                for (size_t i = 0; i < matrix->n; i++)
                        task_measure(&matrix->sides[side], calls, matrix->next[side],
                                     &matrix->rows[i].cells[side]);
        }
        for (size_t i = 0; i < matrix->n; i++) {
                struct matrix_row *row = &matrix->rows[i];

                compare_cells(matrix, row);
                p[i] = fmin(1, pairs * task_p(&row->cells[row->dearest], &row->cells[row->cheapest], 1));
        }
        err = estimate_holm(p, matrix->n);
        for (size_t i = 0; err == 0 && i < matrix->n; i++) {
                matrix->rows[i].p = p[i];
                matrix->rows[i].significant = p[i] < ESTIMATE_SURE;
        }
        return err;
}

static int compare_rows(const void *a, const void *b, void *data)
{
        const struct matrix_row *x = a, *y = b;
        const struct matrix *matrix = data;
        char text[2][FRAME_NAME_MAX];
        int order;

        if (x->significant != y->significant)
                return y->significant - x->significant;
        if (x->difference.value != y->difference.value)
                return x->difference.value > y->difference.value ? -1 : 1;
        if (x->cells[x->dearest].sampled.value != y->cells[y->dearest].sampled.value)
                return x->cells[x->dearest].sampled.value > y->cells[y->dearest].sampled.value ? -1 : 1;
        order = strcmp(matrix_name(matrix, x, text[0], sizeof(text[0])),
                       matrix_name(matrix, y, text[1], sizeof(text[1])));
        if (!order)
                order = strcmp(matrix_from(matrix, x, text[0], sizeof(text[0])),
                               matrix_from(matrix, y, text[1], sizeof(text[1])));
        for (size_t i = 0; !order && i < matrix->n_sides; i++)
                order = (x->cells[i].node > y->cells[i].node) - (x->cells[i].node < y->cells[i].node);
        return order;
}

int matrix_make(struct side *sides, size_t n, const struct labels *labels, const struct match_wish *wish,
                struct matrix *ret)
{
        _cleanup_(matrix_clear) struct matrix matrix = { .sides = sides, .n_sides = n, .labels = labels, .wish = *wish,
                                                         .alpha = MATCH_ALPHA_MAX };
        int err = list_rows(&matrix);

        if (err == 0)
                err = measure(&matrix);
        if (err < 0)
                return err;
        qsort_r(matrix.rows, matrix.n, sizeof(*matrix.rows), compare_rows, &matrix);
        *ret = matrix;
        matrix = (struct matrix){ 0 };
        return 0;
}

/* Lists the steps of all rows, row by row. A row's last step is from the first to the last program. */
static int list_steps(const struct matrix *matrix, double factor, struct matrix_step **ret, size_t *n)
{
        size_t each = matrix->n_sides > 2 ? matrix->n_sides : 1;
        _cleanup_free_ struct matrix_step *steps = calloc(matrix->n * each + 1, sizeof(*steps));
        _cleanup_free_ double *p = calloc(matrix->n * each + 1, sizeof(*p));
        int err;

        if (!steps || !p)
                return -ENOMEM;
        *n = matrix->n * each;
        for (size_t i = 0; i < *n; i++) {
                struct matrix_step *step = &steps[i];
                const struct task_side *before, *after;

                step->row = i / each;
                step->before = i % each < matrix->n_sides - 1 ? i % each : 0;
                step->after = i % each < matrix->n_sides - 1 ? i % each + 1 : matrix->n_sides - 1;
                before = &matrix->rows[step->row].cells[step->before];
                after = &matrix->rows[step->row].cells[step->after];
                step->difference = estimate_difference(after->sampled, before->sampled, 1, ESTIMATE_Z);
                p[i] = task_p(after, before, factor);
        }
        err = estimate_holm(p, *n);
        for (size_t i = 0; i < *n; i++)
                steps[i].p = p[i];
        if (err == 0)
                *ret = TAKE_PTR(steps);
        return err;
}

static int compare_steps(const void *a, const void *b)
{
        const struct matrix_step *x = a, *y = b;

        if (x->difference.value != y->difference.value)
                return x->difference.value > y->difference.value ? -1 : 1;
        if (x->row != y->row)
                return x->row < y->row ? -1 : 1;
        return (x->before > y->before) - (x->before < y->before);
}

/*
 * Lists the significant steps, the greatest increase first. The step from the first to the last program is listed
 * only where no other step of its row is.
 */
static int sure_steps(const struct matrix *matrix, double factor, struct matrix_step **ret, size_t *kept)
{
        size_t n, row = SIZE_MAX; /* the last row that has one */
        int err = list_steps(matrix, factor, ret, &n);

        *kept = 0;
        for (size_t i = 0; err == 0 && i < n; i++) {
                const struct matrix_step step = (*ret)[i];
                bool whole = step.after - step.before > 1;

                if (step.p >= ESTIMATE_SURE || (whole && step.row == row))
                        continue;
                row = step.row;
                (*ret)[(*kept)++] = step;
        }
        if (err == 0)
                qsort(*ret, *kept, sizeof(**ret), compare_steps);
        return err;
}

int matrix_bisect(struct matrix *matrix)
{
        return sure_steps(matrix, 1, &matrix->steps, &matrix->n_steps);
}

int matrix_find_dearer(const struct matrix *matrix, double share, struct matrix_step *ret)
{
        _cleanup_free_ struct matrix_step *steps = NULL;
        size_t n;

        if (sure_steps(matrix, 1 + share, &steps, &n) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const struct task_side *cells = matrix->rows[steps[i].row].cells;

                if (cells[steps[i].after].sampled.value <= (1 + share) * cells[steps[i].before].sampled.value)
                        continue;
                *ret = steps[i];
                return 1;
        }
        return 0;
}
