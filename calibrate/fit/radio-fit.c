/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra.h"
#include "radio/radio-ladder.h"
#include "util/units.h"
#include "util/util.h"

#define DRAWS 24         /* models drawn from those that the rows allow */
#define PRICE_ERROR 0.02 /* relative error of pricing stored amounts instead of packets (lib/radio/METHOD.md) */
#define OUTLIER 2.5 /* standard deviations from which a row loses weight, as it contains a daemon's spike */
#define MAD 1.4826       /* factor from the median absolute deviation to the standard deviation */
#define SCATTER_MIN 0.1
#define ALIKE_MIN 3      /* least rows of a mode that show its scatter */

static int ascending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
        qsort(values, n, sizeof(*values), ascending);
        return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * Distance of a row's residual from the median residual of its mode, in expected errors; NaN: there are too
 * few rows.
 */
static double off_median(const struct radio_row *rows, const double *left_mw, size_t n, size_t at, double *scratch)
{
        size_t alike = 0;

        for (size_t i = 0; i < n; i++)
                if (strcmp(rows[i].mode, rows[at].mode) == 0)
                        scratch[alike++] = left_mw[i];
        return alike < ALIKE_MIN ? NAN : fabs(left_mw[at] - median(scratch, alike)) / rows[at].sd_mw;
}

/*
 * Residual of each row after a first model, mW. Rows of one mode with few packets differ by when the packets
 * came.
 */
static int find_left(const struct radio_problem *problem, double *left_mw)
{
        _cleanup_free_ double *value = calloc(problem->columns.p, sizeof(*value));
        struct radio_model model = { .value = value };
        uint64_t random = 1;
        int err = value ? radio_solve(problem, &random, &model) : -ENOMEM;

        for (size_t i = 0; !err && i < problem->n; i++) {
                left_mw[i] = problem->rows[i].power_mw;
                for (size_t j = 0; j < problem->columns.p; j++)
                        left_mw[i] -= value[j] * gsl_matrix_get(problem->x, i, j) * problem->rows[i].sd_mw;
        }
        return err;
}

/*
 * Scales the errors to the scatter of rows of one mode, and enlarges those of outliers. The expected error of
 * a row includes daemons' spikes, which most rows do not have.
 */
static int weigh(const struct radio_problem *problem, struct radio_row *rows)
{
        const struct radio_row *given = problem->rows;
        size_t n = problem->n, k = 0;
        _cleanup_free_ double *off = calloc(4 * n, sizeof(*off));
        double *known = off + n, *scratch = known + n, *left_mw = scratch + n, scatter = 1;
        int err = off ? find_left(problem, left_mw) : -ENOMEM;

        if (err)
                return err;
        for (size_t i = 0; i < n; i++) {
                off[i] = off_median(given, left_mw, n, i, scratch);
                if (!isnan(off[i]))
                        known[k++] = off[i];
        }
        if (k > 0)
                scatter = fmax(MAD * median(known, k), SCATTER_MIN);
        for (size_t i = 0; i < n; i++) {
                rows[i] = given[i];
                if (!isnan(off[i]))
                        rows[i].sd_mw *= fmax(scatter, off[i] / OUTLIER);
        }
        return 0;
}

static double normal(uint64_t *random)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += radio_random(random);
        return sum;
}

/* Typical traffic of apps over a radio, as stored amounts, to determine the error of a fitted radio. */

#define RADIO_USES 6    /* a call, ssh, a game, a stream, mail and a download */
#define RADIO_USE_S 300.0

/* Typical uses: bursts in a second, packets of a burst, and the time between its packets. */
static const struct use {
        double bursts_per_s, packets, apart_ms, bytes;
        bool irregular;
} typical_uses[RADIO_USES] = {
        { 100, 1, 0, 200, false },
        { 1, 1, 0, 120, true },
        { 25, 1, 0, 150, true },
        { 0.125, 400, 1, 1400, false },
        { 0.0125, 8, 20, 500, false },
        { 1, 500, 2, 1400, false },
};

static double uniform(uint64_t *state)
{
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return ((double)(*state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static void put_packet(const struct use *use, double ms, size_t number, struct radio_burst *bursts, size_t *n)
{
        int64_t time_ns = llround(ms * 1e6);
        struct radio_burst *burst = *n > 0 ? &bursts[*n - 1] : NULL;

        if (!burst || time_ns - burst->last_ns >= RADIO_BURST_GAP_NS) {
                burst = &bursts[(*n)++];
                *burst = (struct radio_burst){ .owner = 1, .first_ns = time_ns };
        }
        burst->last_ns = time_ns;
        burst->packets[number % RADIO_DIRECTIONS]++;
        burst->bytes[number % RADIO_DIRECTIONS] += (uint64_t)use->bytes;
        burst->large += use->bytes >= RADIO_LARGE_BYTES;
}

/* @ret->cells: free() it. Returns 0 or -ENOMEM. */
static int radio_use(const struct radio_shape *shape, size_t number, struct radio_amounts *ret)
{
        const struct use *use = &typical_uses[number];
        size_t most = (size_t)(4 * RADIO_USE_S * use->bursts_per_s) + 16, n = 0, packet = 0;
        _cleanup_free_ struct radio_burst *bursts = calloc(most, sizeof(*bursts));
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        uint64_t state = number;
        int err = bursts ? radio_ladder_start(&ladder, shape) : -ENOMEM;

        *ret = (struct radio_amounts){ .cells = calloc(radio_shape_cells(shape), sizeof(*ret->cells)) };
        if (!ret->cells)
                return -ENOMEM;
        for (double ms = 500; !err && ms < RADIO_USE_S * 1e3 && n + 1 < most;) {
                for (double i = 0; i < use->packets; i++)
                        put_packet(use, ms + i * use->apart_ms, packet++, bursts, &n);
                ms += 1e3 / use->bursts_per_s * (use->irregular ? -log(uniform(&state)) : 1);
        }
        if (!err)
                err = radio_ladder_poll(&ladder, bursts, n, llround(RADIO_USE_S * NS_PER_S));
        for (size_t o = 0; !err && o < ladder.n_owners; o++) {
                for (size_t i = 0; i < radio_shape_cells(shape); i++)
                        ret->cells[i] += ladder.owners[o].cells[i];
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        ret->bytes[d] += ladder.owners[o].bytes[d];
        }
        return err;
}

/* Columns of typical uses; models are compared by their energy for these. */
static int make_uses(const struct radio_columns *columns, double *x)
{
        int err = 0;

        for (size_t u = 0; !err && u < RADIO_USES; u++) {
                struct radio_row row = { .seconds = RADIO_USE_S };

                err = radio_use(columns->shape, u, &row.amounts);
                if (!err)
                        radio_columns_row(columns, &row, x + u * columns->p);
                free(row.amounts.cells);
        }
        return err;
}

#define POWER_MIN_MW 0.01

static double log_power(const struct radio_columns *columns, const struct radio_model *model, const double *x)
{
        double power = 0;

        for (size_t j = COLUMN_OFFSET + 1; j < columns->p; j++)
                power += model->value[j] * x[j];
        return log(fmax(power, POWER_MIN_MW));
}

/*
 * Draws models from the rows, or with scale > 0 from rows with additional random errors. log[]: logarithm of
 * each model's power for each use.
 */
static int draw_models(struct radio_problem *problem, const double *uses, double scale, double *value, double *log)
{
        _cleanup_vector_ gsl_vector *error = gsl_vector_calloc(problem->n + 1);
        size_t p = problem->columns.p;
        uint64_t random = 1;
        int err = error ? 0 : -ENOMEM;

        for (size_t b = 0; !err && b < DRAWS; b++) {
                struct radio_model model = { .value = value + b * p };

                for (size_t i = 0; i <= problem->n; i++)
                        gsl_vector_set(error, i, scale * normal(&random));
                radio_problem_move(problem, error);
                err = radio_solve(problem, &random, &model);
                for (size_t u = 0; !err && u < RADIO_USES; u++)
                        log[u * DRAWS + b] = log_power(&problem->columns, &model, uses + u * p);
        }
        return err;
}

/* The model that is closest to the median of all models over all uses. */
static size_t middle_of(const double *log, double median_of[RADIO_USES])
{
        double least = INFINITY;
        size_t at = 0;

        for (size_t u = 0; u < RADIO_USES; u++) {
                double sorted[DRAWS];

                memcpy(sorted, log + u * DRAWS, sizeof(sorted));
                median_of[u] = median(sorted, DRAWS);
        }
        for (size_t b = 0; b < DRAWS; b++) {
                double sum = 0;

                for (size_t u = 0; u < RADIO_USES; u++)
                        sum += pow(log[u * DRAWS + b] - median_of[u], 2);
                if (sum < least) {
                        least = sum;
                        at = b;
                }
        }
        return at;
}

/* Root mean square distance of the drawn models from the chosen one. */
static double error_of(const double *log, const double chosen[RADIO_USES])
{
        double sum = 0;

        for (size_t u = 0; u < RADIO_USES; u++)
                for (size_t b = 0; b < DRAWS; b++)
                        sum += pow(log[u * DRAWS + b] - chosen[u], 2);
        return hypot(sqrt(sum / (RADIO_USES * DRAWS)), PRICE_ERROR);
}

static double chi2_at(const struct radio_problem *problem, const double *value)
{
        double chi2 = 0;

        for (size_t i = 0; i < problem->n; i++) {
                double off = problem->rows[i].power_mw / problem->rows[i].sd_mw;

                for (size_t j = 0; j < problem->columns.p; j++)
                        off -= value[j] * gsl_matrix_get(problem->x, i, j);
                chi2 += off * off;
        }
        return chi2;
}

static int fit_problem(struct radio_problem *problem, struct radio_fit *fit)
{
        size_t p = problem->columns.p, at;
        _cleanup_free_ double *value = calloc(DRAWS * p, sizeof(*value)), *uses = calloc(RADIO_USES * p, sizeof(*uses));
        struct radio_model chosen = { .value = value };
        double log[RADIO_USES * DRAWS], chosen_log[RADIO_USES];
        int err = value && uses ? radio_solve_linear(problem, &chosen) : -ENOMEM;

        fit->chi2_linear = chosen.chi2;
        if (!err)
                err = make_uses(&problem->columns, uses);
        if (!err)
                err = draw_models(problem, uses, 0, value, log);
        if (err)
                return err;
        at = middle_of(log, chosen_log);
        chosen.value = value + at * p;
        fit->chi2 = chi2_at(problem, chosen.value);
        err = radio_automaton(&problem->columns, &chosen, &fit->radio);
        for (size_t u = 0; u < RADIO_USES; u++)
                chosen_log[u] = log[u * DRAWS + at];
        if (!err)
                err = draw_models(problem, uses, sqrt(fmax(1, fit->chi2 / (double)problem->n)), value, log);
        fit->error = error_of(log, chosen_log);
        return err;
}

int radio_fit(const struct radio_traits *traits, const struct radio_shape *shape, const struct radio_row *rows,
              size_t n, double offset_sd_mw, struct radio_fit *ret)
{
        _cleanup_free_ struct radio_row *weighed = calloc(n + 1, sizeof(*weighed));
        struct radio_problem problem = { 0 };
        struct radio_fit fit = { 0 };
        int err = n == 0 ? -ENODATA : weighed ? radio_problem_make(traits, shape, rows, n, offset_sd_mw, &problem) :
                  -ENOMEM;

        if (!err)
                err = weigh(&problem, weighed);
        radio_problem_clear(&problem);
        if (!err)
                err = radio_problem_make(traits, shape, weighed, n, offset_sd_mw, &problem);
        if (!err)
                err = fit_problem(&problem, &fit);
        radio_problem_clear(&problem);
        if (err)
                radio_clear(&fit.radio);
        else
                *ret = fit;
        return err;
}
