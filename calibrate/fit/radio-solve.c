/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Finds the timers and thresholds of a radio.
 *
 * Method: non-negative least squares on each set of columns that may explain the rows: all timers, without a
 * threshold or with one of each rate and timer. One set is drawn in proportion to exp(-chi2 / 2) (Maddison
 * and others, A* Sampling, 2014). Then columns are removed one by one while chi square rises by less than a
 * penalty.
 */

#include "radio-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>

#include "algebra.h"
#include "util/util.h"

#define RATE_MIN 4   /* packets in a second; lower thresholds cannot be distinguished from timers */
#define RATE_MAX 100 /* calibrations have no higher rates of small packets */
#define CORNERS 4    /* columns of a threshold between two rates whose timer is between two timers */
#define ENDS 2
#define SET_MAX (COLUMN_UP + RADIO_RUNGS_MAX + CORNERS + ENDS)

/*
 * Least improvement of chi square by an additional timer or threshold: errors common to the rows make one
 * look useful, the more rows there are.
 */
#define PENALTY_MIN 4.0
#define PENALTY_PER_ROW 0.2

#define NEARLY_EQUAL 1e-9 /* columns may be equal if no row distinguishes them */

void radio_problem_clear(struct radio_problem *problem)
{
        matrix_freep(&problem->x);
        matrix_freep(&problem->gram);
        vector_freep(&problem->y);
        vector_freep(&problem->moment);
}

void radio_problem_move(struct radio_problem *problem, const gsl_vector *error)
{
        for (size_t i = 0; i < problem->n; i++)
                gsl_vector_set(problem->y, i, problem->rows[i].power_mw / problem->rows[i].sd_mw +
                                                      (error ? gsl_vector_get(error, i) : 0));
        gsl_blas_dgemv(CblasTrans, 1, problem->x, problem->y, 0, problem->moment);
        if (error)
                *gsl_vector_ptr(problem->moment, COLUMN_OFFSET) += gsl_vector_get(error, problem->n) /
                                                                   problem->offset_sd_mw;
        gsl_blas_ddot(problem->y, problem->y, &problem->squares);
}

int radio_problem_make(const struct radio_traits *traits, const struct radio_shape *shape,
                       const struct radio_row *rows, size_t n, double offset_sd_mw, struct radio_problem *ret)
{
        struct radio_problem *problem = ret;

        *problem = (struct radio_problem){ .rows = rows, .n = n, .offset_sd_mw = offset_sd_mw };
        radio_columns_make(&problem->columns, traits, shape);
        problem->x = gsl_matrix_calloc(n, problem->columns.p);
        problem->gram = gsl_matrix_calloc(problem->columns.p, problem->columns.p);
        problem->y = gsl_vector_calloc(n);
        problem->moment = gsl_vector_calloc(problem->columns.p);
        if (!problem->x || !problem->gram || !problem->y || !problem->moment)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                gsl_vector_view x = gsl_matrix_row(problem->x, i);

                radio_columns_row(&problem->columns, &rows[i], gsl_matrix_ptr(problem->x, i, 0));
                gsl_vector_scale(&x.vector, 1 / rows[i].sd_mw);
        }
        gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, problem->x, problem->x, 0, problem->gram);
        *gsl_matrix_ptr(problem->gram, COLUMN_OFFSET, COLUMN_OFFSET) += 1 / (offset_sd_mw * offset_sd_mw);
        radio_problem_move(problem, NULL);
        return 0;
}

static double chi2_of(const struct radio_problem *problem, const size_t *set, size_t k, const gsl_vector *value)
{
        double chi2 = problem->squares;

        for (size_t a = 0; a < k; a++) {
                double fitted = 0;

                for (size_t b = 0; b < k; b++)
                        fitted += gsl_matrix_get(problem->gram, set[a], set[b]) * gsl_vector_get(value, b);
                chi2 += gsl_vector_get(value, a) * (fitted - 2 * gsl_vector_get(problem->moment, set[a]));
        }
        return chi2;
}

/* Solves with the columns of @set; kept if better than @best. @handicap: added to its chi square. */
static int try(const struct radio_problem *problem, const size_t *set, size_t k, double handicap,
               struct radio_model *best)
{
        _cleanup_matrix_ gsl_matrix *gram = gsl_matrix_alloc(k, k);
        _cleanup_vector_ gsl_vector *moment = gsl_vector_alloc(k), *value = gsl_vector_calloc(k);
        bool nonneg[SET_MAX];
        double chi2;
        int err;

        if (!gram || !moment || !value)
                return -ENOMEM;
        for (size_t a = 0; a < k; a++) {
                nonneg[a] = set[a] != COLUMN_OFFSET;
                gsl_vector_set(moment, a, gsl_vector_get(problem->moment, set[a]));
                for (size_t b = 0; b < k; b++)
                        gsl_matrix_set(gram, a, b, gsl_matrix_get(problem->gram, set[a], set[b]));
                *gsl_matrix_ptr(gram, a, a) *= 1 + NEARLY_EQUAL;
                if (gsl_matrix_get(gram, a, a) <= 0)
                        gsl_matrix_set(gram, a, a, 1);
        }
        err = algebra_nnls(gram, moment, nonneg, value);
        if (err)
                return err == -ENOMEM ? err : 0;
        chi2 = chi2_of(problem, set, k, value);
        if (!(chi2 + handicap < best->score))
                return 0;
        best->chi2 = chi2;
        best->score = chi2 + handicap;
        memset(best->value, 0, problem->columns.p * sizeof(*best->value));
        for (size_t a = 0; a < k; a++)
                best->value[set[a]] = gsl_vector_get(value, a);
        return 0;
}

int radio_solve_linear(const struct radio_problem *problem, struct radio_model *ret)
{
        static const size_t set[] = { COLUMN_OFFSET, COLUMN_MB + RADIO_TX, COLUMN_MB + RADIO_RX, COLUMN_WAKES };

        ret->score = INFINITY;
        return try(problem, set, ARRAY_SIZE(set), 0, ret);
}

static double penalty(const struct radio_problem *problem)
{
        return fmax(PENALTY_MIN, PENALTY_PER_ROW * (double)problem->n);
}

/* Starts with the columns that all models have. */
static size_t begin_set(size_t *set)
{
        size_t n = 0;

        while (n < COLUMN_WAKES) {
                set[n] = n;
                n++;
        }
        return n;
}

/* A model must keep at least one timer. */
static bool is_last_timer(const struct radio_columns *columns, const size_t *set, size_t k, size_t at)
{
        size_t timers = 0;

        for (size_t a = 0; a < k; a++)
                timers += is_up_column(columns, set[a]);
        return timers == 1 && is_up_column(columns, set[at]);
}

static int try_without(const struct radio_problem *problem, const size_t *set, size_t k, size_t at,
                       struct radio_model *best)
{
        size_t left[SET_MAX];

        memcpy(left, set, at * sizeof(*left));
        memcpy(left + at, set + at + 1, (k - at - 1) * sizeof(*left));
        return try(problem, left, k - 1, 0, best);
}

/* Removes columns as long as the rows are explained about as well. */
static int prune(const struct radio_problem *problem, struct radio_model *best)
{
        _cleanup_free_ double *value = calloc(problem->columns.p, sizeof(*value));
        bool less = true;
        int err = value ? 0 : -ENOMEM;

        while (!err && less) {
                struct radio_model fewer = { .value = value, .chi2 = INFINITY, .score = INFINITY };
                size_t set[SET_MAX], fixed = begin_set(set), n = fixed;

                for (size_t j = COLUMN_UP; j < problem->columns.p; j++)
                        if (best->value[j] > 0)
                                set[n++] = j;
                for (size_t at = fixed; !err && at < n; at++)
                        if (!is_last_timer(&problem->columns, set, n, at))
                                err = try_without(problem, set, n, at, &fewer);
                less = !err && fewer.chi2 - best->chi2 < penalty(problem);
                if (less) {
                        best->chi2 = fewer.chi2;
                        memcpy(best->value, value, problem->columns.p * sizeof(*value));
                }
        }
        return err;
}

double radio_random(uint64_t *state)
{
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return ((double)(*state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

/*
 * Gumbel noise: the largest of values with this noise is distributed in proportion to their exponentials
 * (Maddison and others, A* Sampling, 2014). With values -chi2 / 2, a model is drawn by its likelihood.
 */
static double draw(uint64_t *random)
{
        return 2 * log(-log(radio_random(random)));
}

/* A threshold lies between this rate and the next. */
static bool is_threshold(const struct radio_shape *shape, size_t rate)
{
        return shape->rate[rate] >= RATE_MIN && shape->rate[rate + 1] <= RATE_MAX;
}

int radio_solve(const struct radio_problem *problem, uint64_t *random, struct radio_model *ret)
{
        const struct radio_columns *columns = &problem->columns;
        size_t set[SET_MAX], n = begin_set(set);
        int err;

        for (size_t t = 0; t < columns->n_timers; t++)
                set[n++] = up_column(t);
        ret->score = INFINITY;
        err = try(problem, set, n, draw(random) - penalty(problem), ret);
        for (size_t r = 0; !err && r + 1 < columns->n_rates; r++)
                for (size_t t = 0; !err && is_threshold(columns->shape, r) && t + 1 < columns->n_timers; t++) {
                        for (size_t i = 0; i < CORNERS; i++)
                                set[n + i] = above_column(columns, r + i / 2, t + i % 2);
                        for (size_t i = 0; i < ENDS; i++)
                                set[n + CORNERS + i] = end_column(columns, r + i);
                        err = try(problem, set, n + CORNERS + ENDS, draw(random), ret);
                }
        return err ? err : prune(problem, ret);
}
