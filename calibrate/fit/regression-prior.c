/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The prior: neighbouring operating points are similar, and gauges err little; both scaled by what this
 * device's rows show.
 */

#include <math.h>

#include "regression-private.h"
#include "util/util.h"

/* One row d of the prior: information += d d'. */
static void prior_add(gsl_matrix *prior, const size_t *at, const double *weight, size_t n)
{
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        *gsl_matrix_ptr(prior, at[a], at[b]) += weight[a] * weight[b];
}

/* Three neighbouring operating points, for one second difference. */
struct bend {
        size_t at[3];
        double weight[3];
};

/* For uneven grids: the second derivative times the square of the mean distance. */
static struct bend bend_of(const struct device_policy *policy, size_t first, size_t k)
{
        double mean = (double)(policy->khz[policy->n_khz - 1] - policy->khz[0]) / (double)(policy->n_khz - 1);
        double before = (double)(policy->khz[k] - policy->khz[k - 1]) / mean;
        double after = (double)(policy->khz[k + 1] - policy->khz[k]) / mean;
        double weight = 2 / (before + after);

        return (struct bend){ { first + k - 1, first + k, first + k + 1 },
                              { weight / before, -weight * (1 / before + 1 / after), weight / after } };
}

/* Second differences of the coefficients from @first on are 0 with standard deviation @sd. */
static void prior_smooth(gsl_matrix *prior, const struct device_policy *policy, size_t first, double sd)
{
        for (size_t k = 1; k + 1 < policy->n_khz; k++) {
                struct bend bend = bend_of(policy, first, k);

                for (size_t i = 0; i < ARRAY_SIZE(bend.weight); i++)
                        bend.weight[i] /= sd;
                prior_add(prior, bend.at, bend.weight, ARRAY_SIZE(bend.at));
        }
}

/* Weight of the expected curvature, in second differences that were seen. */
#define BEND_BELIEF 2

/*
 * The curvature of this policy by the last fit: its second differences, and how many of them were determined
 * by the rows and not by the prior with standard deviation @last (MacKay, Bayesian Interpolation, 1992).
 * Policies with boost have more curvature, and measurements must outweigh the prior. @usual and the result
 * are in mW.
 */
static double learn_bend(const struct work *work, const struct device_policy *policy, size_t first,
                         double usual, double last)
{
        double squares = BEND_BELIEF * usual * usual, seen = BEND_BELIEF;

        for (size_t k = 1; k + 1 < policy->n_khz; k++) {
                struct bend bend = bend_of(policy, first, k);
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

static double largest(const gsl_vector *value, size_t first, size_t n)
{
        double most = 0;

        for (size_t k = 0; k < n; k++)
                most = fmax(most, gsl_vector_get(value, first + k));
        return most;
}

/* Before the first fit: a busy core cannot take more than all power that was measured. */
static double largest_possible(const struct work *work, size_t first, size_t n)
{
        double most = 0;

        for (size_t a = 0; a < work->fit->n; a++)
                for (size_t k = 0; k < n; k++) {
                        double busy = gsl_matrix_get(work->x, a, first + k);

                        if (busy > 0.1)
                                most = fmax(most,
                                            work->rows->list[work->fit->index[a]].power_mw / fmax(busy, 1));
                }
        return most;
}

/* Before the first fit the curvature may be as large as possible; later the rows show it. */
static void policy_prior(struct work *work, const struct device_policy *policy, size_t first, double part,
                         double most, bool first_time)
{
        double *sd = &work->bend_sd[first];

        *sd = first_time ? most : learn_bend(work, policy, first, part * most, *sd);
        prior_smooth(work->fit->prior, policy, first, *sd);
}

void regression_prior_make(struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        struct regression *fit = work->fit;
        double level = 1 / work->level_sd;

        gsl_matrix_set_zero(fit->prior);
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                size_t first = columns->active[i];
                double most;

                if (first == SIZE_MAX)
                        continue;
                most = first_time ? largest_possible(work, first, policy->n_khz)
                                  : largest(fit->value, first, policy->n_khz);
                if (most <= 0)
                        most = largest_possible(work, first, policy->n_khz);
                if (most <= 0)
                        continue;
                policy_prior(work, policy, first, work->options->smooth_active, most, first_time);
                if (columns->shared[i] != SIZE_MAX)
                        policy_prior(work, policy, columns->shared[i], work->options->smooth_shared, most,
                                     first_time);
        }
        for (size_t j = fit->p; j < work->q; j++)
                gsl_matrix_set(fit->prior, j, j, level * level);
}

/* Weight of the expected size of a gauge's waves, in waves that were seen. */
#define LEVEL_BELIEF 6

/*
 * The size of this gauge's waves: what is seen, and what may still be hidden (EM: Dempster, Laird and Rubin
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
