/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The prior: adjacent operating points are similar, and gauges have small errors. Both are scaled to the
 * scatter of this device's rows.
 */

#include <math.h>
#include <string.h>

#include "regression-private.h"
#include "util/util.h"

void regression_prior_add(gsl_matrix *prior, const size_t *at, const double *weight, size_t n)
{
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        *gsl_matrix_ptr(prior, at[a], at[b]) += weight[a] * weight[b];
}

/* Columns of a curve, and their positions: frequencies of A or S, levels of the display. */
struct curve {
        size_t first, n;
        uint32_t point[COLUMNS_POINTS_MAX];
        double usual[COLUMNS_POINTS_MAX]; /* smooth is the ratio to it; 0: the curve itself */
};

/* Three neighbouring points, for one second difference. */
struct bend {
        size_t at[3];
        double weight[3];
};

/* For uneven grids: the second derivative times the square of the mean distance. */
static struct bend bend_of(const struct curve *curve, size_t k)
{
        const uint32_t *point = curve->point;
        double mean = (double)(point[curve->n - 1] - point[0]) / (double)(curve->n - 1);
        double before = (double)(point[k] - point[k - 1]) / mean;
        double after = (double)(point[k + 1] - point[k]) / mean;
        double weight = 2 / (before + after);
        size_t first = curve->first;
        struct bend bend = { { first + k - 1, first + k, first + k + 1 },
                             { weight / before, -weight * (1 / before + 1 / after), weight / after } };

        for (size_t i = 0; i < ARRAY_SIZE(bend.weight); i++)
                if (curve->usual[k - 1 + i] > 0)
                        bend.weight[i] /= curve->usual[k - 1 + i];
        return bend;
}

/* Second differences of the curve are 0 with standard deviation @sd. */
static void prior_smooth(gsl_matrix *prior, const struct curve *curve, double sd)
{
        for (size_t k = 1; k + 1 < curve->n; k++) {
                struct bend bend = bend_of(curve, k);

                for (size_t i = 0; i < ARRAY_SIZE(bend.weight); i++)
                        bend.weight[i] /= sd;
                regression_prior_add(prior, bend.at, bend.weight, ARRAY_SIZE(bend.at));
        }
}

/* Weight of the expected curvature, as a number of observed second differences. */
#define BEND_BELIEF 2

/*
 * Standard deviation of this curve's second differences, by the last fit and @usual: the root of their squares divided
 * by the number that the rows determined, and not the prior with standard deviation @last (MacKay, Bayesian
 * Interpolation, 1992). Policies with boost have more curvature, and measurements must outweigh the prior. @usual and
 * the result are in mW.
 */
static double learn_bend(const struct work *work, const struct curve *curve, double usual, double last)
{
        double squares = BEND_BELIEF * usual * usual, seen = BEND_BELIEF;

        for (size_t k = 1; k + 1 < curve->n; k++) {
                struct bend bend = bend_of(curve, k);
                double mean = 0, variance = 0;

                for (size_t i = 0; i < ARRAY_SIZE(bend.at); i++) {
                        mean += bend.weight[i] * gsl_vector_get(work->fit->value, bend.at[i]);
                        for (size_t j = 0; j < ARRAY_SIZE(bend.at); j++)
                                variance += bend.weight[i] * bend.weight[j] *
                                            gsl_matrix_get(work->inverse, bend.at[i], bend.at[j]);
                }
                squares += mean * mean;
                seen += fmax(1 - variance / (last * last), 0);
        }
        return sqrt(squares / seen);
}

static double largest(const struct work *work, const struct curve *curve)
{
        double most = 0;

        for (size_t k = 0; k < curve->n; k++)
                most = fmax(most, gsl_vector_get(work->fit->value, curve->first + k));
        return most;
}

/* Upper limit before the first fit: a busy core or a display cannot take more than all measured power. */
static double largest_possible(const struct work *work, const struct curve *curve)
{
        double most = 0;

        for (size_t a = 0; a < work->fit->n; a++)
                for (size_t k = 0; k < curve->n; k++) {
                        double busy = gsl_matrix_get(work->x, a, curve->first + k);

                        if (busy > 0.1)
                                most = fmax(most,
                                            work->rows->list[work->fit->index[a]].power_mw / fmax(busy, 1));
                }
        return most;
}

/* Before the first fit the curvature may be as large as possible; afterwards it is learnt from the rows. */
static void curve_prior(struct work *work, const struct curve *curve, double part, double most, bool first_time)
{
        double *sd = &work->bend_sd[curve->first];

        *sd = first_time ? most : learn_bend(work, curve, part * most, *sd);
        prior_smooth(work->fit->prior, curve, *sd);
}

/* A curve with less than this part of what is possible shows no size. */
#define SIZE_LEAST 1e-3

/* @like: the curve that shows its usual size. */
static void smooth(struct work *work, const struct curve *curve, const struct curve *like, double part,
                   bool first_time)
{
        double most = first_time ? largest_possible(work, like) : largest(work, like);

        if (most <= SIZE_LEAST * largest_possible(work, like))
                most = largest_possible(work, like);
        if (most > 0)
                curve_prior(work, curve, part, most, first_time);
}

static void smooth_policies(struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;

        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                struct curve active = { .first = columns->active[i], .n = policy->n_khz }, shared;

                if (active.first == SIZE_MAX || regression_keeps(work, active.first))
                        continue;
                memcpy(active.point, policy->khz, policy->n_khz * sizeof(policy->khz[0]));
                for (size_t k = 0; k < policy->n_khz; k++)
                        active.usual[k] = regression_usual_shape(work, policy, k);
                shared = active;
                shared.first = columns->shared[i];
                smooth(work, &active, &active, work->options->smooth_active, first_time);
                if (shared.first != SIZE_MAX)
                        smooth(work, &shared, &active, work->options->smooth_shared, first_time);
        }
}

static void smooth_display(struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        struct curve levels = { .first = columns->term[TERM_DISPLAY], .n = columns->levels };

        if (regression_keeps(work, levels.first))
                return;
        for (size_t k = 0; k < levels.n; k++)
                levels.point[k] = columns->list[levels.first + k].point;
        if (levels.n > 0)
                smooth(work, &levels, &levels, work->options->smooth_display, first_time);
}

/* A coefficient alone does not take more than all power that was measured; far weaker than any row. */
static void bound_all(struct work *work)
{
        const struct regression *fit = work->fit;
        double most_mw = 0;

        for (size_t a = 0; a < fit->n; a++)
                most_mw = fmax(most_mw, work->rows->list[fit->index[a]].power_mw);
        for (size_t j = 0; j < fit->p; j++) {
                double most = 0;

                for (size_t a = 0; a < fit->n; a++)
                        most = fmax(most, gsl_matrix_get(work->x, a, j));
                most = most > 0 ? most : 1;
                *gsl_matrix_ptr(fit->prior, j, j) += most * most / (most_mw * most_mw);
        }
}

void regression_prior_make(struct work *work, bool first_time)
{
        struct regression *fit = work->fit;
        double level = 1 / work->level_sd;

        gsl_matrix_set_zero(fit->prior);
        smooth_policies(work, first_time);
        smooth_display(work, first_time);
        regression_prior_shapes(work, first_time);
        for (size_t j = fit->p; j < work->q; j++)
                gsl_matrix_set(fit->prior, j, j, level * level);
        for (size_t j = 0; j < fit->p; j++) {
                const struct kind_prior *kind = columns_kind_prior(work->columns, j);

                if (kind)
                        gsl_matrix_set(fit->prior, j, j, 1 / (kind->sd * kind->sd));
        }
        if (work->before)
                gsl_matrix_add(fit->prior, work->before);
        if (work->options->as_used)
                bound_all(work);
}

/* Weight of the expected size of a gauge's waves, as a number of observed waves. */
#define LEVEL_BELIEF 6

/*
 * Size of this gauge's waves: the estimate plus its remaining uncertainty (EM: Dempster, Laird and Rubin
 * 1977).
 */
void regression_learn_level(struct work *work)
{
        double usual = work->options->level_sd, squares = LEVEL_BELIEF * usual * usual;

        for (size_t j = work->fit->p; j < work->q; j++) {
                double wave = gsl_vector_get(work->fit->value, j);

                squares += wave * wave + gsl_matrix_get(work->inverse, j, j);
        }
        work->level_sd = sqrt(squares / (double)(LEVEL_BELIEF + work->fit->z));
}
