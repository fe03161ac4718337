/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "forecast/cost.h"
#include "spread.h"
#include "util/quantile.h"
#include "util/util.h"

struct sum {
        struct cost_maker *maker;
        double shown_j;
};

static int add_row(const struct design_row *row, struct sum *sum)
{
        const struct everyday *everyday = row->everyday;

        sum->shown_j += row->energy_j;
        for (size_t u = 0; u < everyday->n_uses; u++) {
                const struct everyday_use *use = &everyday->uses[u];
                struct store_row as_stored = { .start_ns = everyday->start_ns,
                                               .end_ns = everyday->end_ns,
                                               .app = use->app,
                                               .state = use->state,
                                               .active_ns = (uint64_t)(use->active_s * NS_PER_S),
                                               .usage = &use->usage };
                int err = cost_maker_add(sum->maker, &as_stored);

                if (err)
                        return err;
        }
        return 0;
}

/* Variance of the sum of the rows first..first+n-1. */
static int shown_variance(const struct design *design, size_t first, size_t n, double *ret)
{
        _cleanup_matrix_ gsl_matrix *covariance = gsl_matrix_alloc(n, n);

        if (!covariance)
                return -ENOMEM;
        spread_covariance(design, first, n, false, covariance); /* the prediction has the variation within apps */
        *ret = 0;
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                        *ret += gsl_matrix_get(covariance, i, j);
        return 0;
}

int judge_stretch(const struct profile *profile, const struct design *design, size_t first, size_t n,
                  struct judged *ret)
{
        double full = 1 / profile_shown_part(profile);
        _cleanup_(cost_freep) struct cost *cost = NULL;
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        struct sum sum = { 0 };
        double variance, half, t;
        int err = cost_maker_new(&maker);

        sum.maker = maker;
        for (size_t i = 0; !err && i < n; i++)
                err = add_row(&design->rows[first + i], &sum);
        if (!err)
                err = cost_maker_finish(maker, profile, NULL, &cost);
        if (!err)
                err = shown_variance(design, first, n, &variance);
        if (err)
                return err;
        half = full * (cost->total_j.high - cost->total_j.value);
        t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL);
        *ret = (struct judged){ .end_ns = design->rows[first + n - 1].everyday->end_ns, .shown_j = sum.shown_j,
                                .predicted_j = full * cost->total_j.value,
                                .half_width_j = hypot(half, 1.96 * sqrt(variance)),
                                .sd_j = hypot(half / t, sqrt(variance)) };
        return 0;
}

int judge(const struct profile *profile, const struct design *design, int64_t after_ns, struct judged **ret,
          size_t *ret_n)
{
        _cleanup_free_ struct judged *list = calloc(design->n_stretches + 1, sizeof(*list));
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        for (size_t first = 0, length; first < design->n; first += length) {
                int err;

                length = spread_stretch(design, first);
                if (design->rows[first + length - 1].everyday->end_ns <= after_ns)
                        continue;
                err = judge_stretch(profile, design, first, length, &list[n]);
                if (err)
                        return err;
                n += judge_is_known(&list[n]);
        }
        *ret = TAKE_PTR(list);
        *ret_n = n;
        return 0;
}

bool judge_is_known(const struct judged *judged)
{
        return isfinite(judged->sd_j) && judged->sd_j > 0;
}

/* Degrees of freedom of the Student's t likelihood: its tails are heavy, so a single strange day decides nothing. */
#define TAILS 4.0

double judge_likelihood(const struct judged *judged)
{
        double z = (judged->shown_j - judged->predicted_j) / judged->sd_j;

        return -(TAILS + 1) / 2 * log1p(z * z / TAILS) - log(judged->sd_j);
}
