/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "future.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cholesky.h"
#include "forecast.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

static const struct {
        double common, probability;
} commons[] = { { 0.01, 0.55 }, { 0.03, 0.35 }, { 0.12, 0.10 } };

static const struct {
        double always, changes, probability;
} factors[] = { { 0, 0, 0.20 }, { 0, 0.10, 0.25 }, { 0, 0.30, 0.25 }, { 0.25, 0.05, 0.30 } };

_Static_assert(ARRAY_SIZE(commons) * ARRAY_SIZE(factors) == DRAIN_CASES, "each with each");

void drain_clear(struct drain *drain)
{
        free(drain->covariance_j2);
        free(drain->model_j);
        free(drain->part_j);
        free(drain->recent_j);
        for (size_t i = 0; i < DRAIN_CASES; i++) {
                free(drain->cases[i].lower);
                free(drain->cases[i].solved);
        }
        *drain = (struct drain){ 0 };
}

/* Covariance of a span's model error with each weight; widened, as the errors of a fit have Student's t. */
static void add_model(const struct profile *profile, const struct history_span *span, double *row)
{
        const struct model_vector vector = { .weight = span->total, .n = profile->n_coefficients };
        double t = quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) / quantile_normal(FORECAST_LEVEL);

        model_covariance_j2(profile, &vector, row);
        for (size_t i = 0; i < vector.n; i++)
                row[i] *= t * t;
}

static double dot(const double *a, const double *b, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += a[i] * b[i];
        return sum;
}

/* Covariance of two spans through the factors of the foreground apps that both have. */
static double common_parts_j2(const struct history_span *a, const struct history_span *b, double always, double changes)
{
        double sum = 0;

        for (size_t i = 0; i < a->n_parts; i++)
                for (size_t j = 0; j < b->n_parts; j++)
                        if (a->parts[i].app == b->parts[j].app)
                                sum += a->parts[i].energy_j * b->parts[j].energy_j *
                                       (always * always + changes * changes *
                                        exp(-fabs(a->parts[i].age - b->parts[j].age) / TUNING_DRAIN_SESSIONS));
        return sum;
}

static double power_w(const struct history_span *span)
{
        return span->measured_j / fmax(span->seconds, 1);
}

/* Variance of energy on the wrong side of the begin of span @i, which may also be the end of the span before. */
static double end_j2(const struct history_span *spans, size_t n, size_t i)
{
        bool both = i > 0 && i < n && spans[i].follows;
        double at_w = both ? (power_w(&spans[i - 1]) + power_w(&spans[i])) / 2 : power_w(&spans[i < n ? i : i - 1]);

        return pow(fmin(at_w, 1e3) * TUNING_STEP_S, 2);
}

/*
 * Adds the errors of the measured energy: each end is known to TUNING_STEP_S, and a span begins where the one before
 * ends; daemons that no counter shows; and the curve of the gauge, whose percents differ in size, but are alike
 * over a tenth of it.
 */
static void add_noise(const struct history *history, const struct history_span *spans, size_t n, double *matrix)
{
        double full_j = 100 * J_PER_PERCENT(history->profile->energy_full_mwh), middle = 0, middles[DRAIN_SPANS];

        for (size_t i = 0; i < n; i++) {
                middles[i] = (middle + spans[i].measured_j / 2) / full_j;
                middle += spans[i].measured_j;
        }
        for (size_t i = 0; i < n; i++) {
                double daemons_j = model_background_sd_j(history->profile, spans[i].seconds);
                double begin_j2 = end_j2(spans, n, i);

                matrix[i * n + i] += begin_j2 + end_j2(spans, n, i + 1) + daemons_j * daemons_j;
                if (i > 0 && spans[i].follows)
                        matrix[i * n + i - 1] -= begin_j2;
                for (size_t j = 0; j <= i; j++)
                        matrix[i * n + j] += pow(TUNING_GAUGE_CURVE_SD, 2) * spans[i].measured_j * spans[j].measured_j *
                                             exp(-fabs(middles[i] - middles[j]) / TUNING_GAUGE_CURVE_LENGTH);
        }
}

/* Covariance of the measured energies without any factors. */
static void make_known(const struct history *history, const struct history_span *spans, const struct drain *drain,
                       double *known)
{
        size_t n_coefficients = drain->n_coefficients;

        for (size_t i = 0; i < drain->n; i++)
                for (size_t j = 0; j <= i; j++)
                        known[i * drain->n + j] =
                                dot(spans[j].total, drain->covariance_j2 + i * n_coefficients, n_coefficients);
        add_noise(history, spans, drain->n, known);
}

/* Returns the logarithm of its likelihood. */
static int solve_case(const struct history_span *spans, const struct drain *drain, const double *known,
                      struct drain_case *ret, double *log_likelihood)
{
        size_t n = drain->n;

        ret->lower = calloc(n * n, sizeof(*ret->lower));
        ret->solved = calloc(n, sizeof(*ret->solved));
        if (!ret->lower || !ret->solved)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j <= i; j++)
                        ret->lower[i * n + j] = known[i * n + j] +
                                                ret->common * ret->common * spans[i].model_j * spans[j].model_j +
                                                common_parts_j2(&spans[i], &spans[j], ret->always, ret->changes);
                ret->solved[i] = spans[i].measured_j - spans[i].model_j;
        }
        cholesky_make(ret->lower, n);
        cholesky_solve(ret->lower, n, ret->solved);
        *log_likelihood = -cholesky_log_determinant(ret->lower, n) / 2;
        for (size_t i = 0; i < n; i++)
                *log_likelihood -= ret->solved[i] * (spans[i].measured_j - spans[i].model_j) / 2;
        return 0;
}

static int solve_cases(const struct history *history, const struct history_span *spans, struct drain *drain)
{
        _cleanup_free_ double *known = calloc(drain->n * drain->n, sizeof(*known));
        double logs[DRAIN_CASES], most = -INFINITY, sum = 0;

        if (!known)
                return -ENOMEM;
        make_known(history, spans, drain, known);
        for (size_t i = 0; i < DRAIN_CASES; i++) {
                size_t c = i / ARRAY_SIZE(factors), f = i % ARRAY_SIZE(factors);
                int err;

                drain->cases[i].common = commons[c].common;
                drain->cases[i].always = factors[f].always;
                drain->cases[i].changes = factors[f].changes;
                err = solve_case(spans, drain, known, &drain->cases[i], &logs[i]);
                if (err < 0)
                        return err;
                logs[i] += log(commons[c].probability * factors[f].probability);
                most = fmax(most, logs[i]);
        }
        for (size_t i = 0; i < DRAIN_CASES; i++) {
                drain->cases[i].probability = exp(logs[i] - most);
                sum += drain->cases[i].probability;
        }
        for (size_t i = 0; i < DRAIN_CASES; i++)
                drain->cases[i].probability /= sum;
        return 0;
}

static int make(const struct history *history, const struct history_span *spans, const size_t *apps,
                struct drain *drain)
{
        size_t n = drain->n;

        drain->covariance_j2 = calloc(n * drain->n_coefficients + 1, sizeof(*drain->covariance_j2));
        drain->model_j = calloc(n, sizeof(*drain->model_j));
        drain->part_j = calloc(n * drain->n_apps + 1, sizeof(*drain->part_j));
        drain->recent_j = calloc(n * drain->n_apps + 1, sizeof(*drain->recent_j));
        if (!drain->covariance_j2 || !drain->model_j || !drain->part_j || !drain->recent_j)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                add_model(history->profile, &spans[i], drain->covariance_j2 + i * drain->n_coefficients);
                drain->model_j[i] = spans[i].model_j;
                for (size_t a = 0; a < drain->n_apps; a++)
                        for (size_t p = 0; p < spans[i].n_parts; p++) {
                                const struct history_part *part = &spans[i].parts[p];

                                if (part->app != apps[a])
                                        continue;
                                drain->part_j[i * drain->n_apps + a] += part->energy_j;
                                drain->recent_j[i * drain->n_apps + a] +=
                                        part->energy_j * exp(-part->age / TUNING_DRAIN_SESSIONS);
                        }
        }
        return solve_cases(history, spans, drain);
}

int drain_make(const struct history *history, const size_t *apps, size_t n_apps, struct drain *ret)
{
        struct drain drain = { .n = MIN(history->n_spans, (size_t)DRAIN_SPANS), .n_apps = n_apps,
                               .n_coefficients = history->profile->n_coefficients };
        const struct history_span *spans = drain.n > 0 ? history->spans + history->n_spans - drain.n : NULL;
        int err;

        *ret = (struct drain){ 0 };
        for (size_t i = 0; i < drain.n_coefficients; i++)
                if (isnan(history->profile->coefficients[i].standard_error))
                        return 0;
        if (drain.n == 0 || isnan(history->profile->degrees_of_freedom))
                return 0; /* no intervals either */
        err = make(history, spans, apps, &drain);
        if (err < 0)
                drain_clear(&drain);
        else
                *ret = drain;
        return err;
}

static double case_shift(const struct drain *drain, const struct drain_case *one, const double *model_j2,
                         double energy_j, const double *own_j, double *variance_j2)
{
        double with[DRAIN_SPANS], kept[DRAIN_SPANS], shift_j, prior_j2 = pow(one->common * energy_j, 2);

        for (size_t a = 0; a < drain->n_apps; a++)
                prior_j2 += pow(hypot(one->always, one->changes) * own_j[a], 2);
        for (size_t i = 0; i < drain->n; i++) {
                with[i] = kept[i] = model_j2[i] + one->common * one->common * energy_j * drain->model_j[i] +
                                    one->always * one->always *
                                            dot(own_j, drain->part_j + i * drain->n_apps, drain->n_apps) +
                                    one->changes * one->changes *
                                            dot(own_j, drain->recent_j + i * drain->n_apps, drain->n_apps);
        }
        shift_j = dot(with, one->solved, drain->n);
        cholesky_solve(one->lower, drain->n, with);
        *variance_j2 = prior_j2 - dot(with, kept, drain->n);
        return shift_j;
}

void drain_add(const struct drain *drain, const struct model_vector *vector, double energy_j, const double *own_j,
               double *shift_j, double *variance_j2)
{
        double model_j2[DRAIN_SPANS], squares_j2 = 0;

        *shift_j = *variance_j2 = 0;
        for (size_t i = 0; i < drain->n; i++)
                model_j2[i] = dot(vector->weight, drain->covariance_j2 + i * drain->n_coefficients,
                                  drain->n_coefficients);
        for (size_t i = 0; i < DRAIN_CASES && drain->n > 0; i++) {
                const struct drain_case *one = &drain->cases[i];
                double variance, shift = case_shift(drain, one, model_j2, energy_j, own_j, &variance);

                *shift_j += one->probability * shift;
                squares_j2 += one->probability * (variance + shift * shift);
        }
        if (drain->n > 0)
                *variance_j2 = squares_j2 - *shift_j * *shift_j;
}
