/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What is believed before a row is seen: neighbouring operating points resemble each other, gauges err
 * little; both as far as this device's rows bear it out.
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

/* Three neighbouring operating points of a policy, of which one coefficient's second difference is made. */
struct bend {
        size_t at[3];
        double weight[3];
};

/* On a grid that need not be even: the second derivative times the square of the mean distance. */
static struct bend bend_of(const struct device_policy *policy, size_t first, size_t k)
{
        double mean = (double)(policy->khz[policy->n_khz - 1] - policy->khz[0]) / (double)(policy->n_khz - 1);
        double before = (double)(policy->khz[k] - policy->khz[k - 1]) / mean;
        double after = (double)(policy->khz[k + 1] - policy->khz[k]) / mean;
        double weight = 2 / (before + after);

        return (struct bend){ { first + k - 1, first + k, first + k + 1 },
                              { weight / before, -weight * (1 / before + 1 / after), weight / after } };
}

/* The second differences of the coefficients from @first on are 0 with standard deviation @sd. */
static void prior_smooth(gsl_matrix *prior, const struct device_policy *policy, size_t first, double sd)
{
        for (size_t k = 1; k + 1 < policy->n_khz; k++) {
                struct bend bend = bend_of(policy, first, k);

                for (size_t i = 0; i < ARRAY_SIZE(bend.weight); i++)
                        bend.weight[i] /= sd;
                prior_add(prior, bend.at, bend.weight, ARRAY_SIZE(bend.at));
        }
}

/* Our belief in how much a policy's coefficients usually bend is worth so many bends that were seen. */
#define BEND_BELIEF 2

/*
 * How much those of this policy bend, of what the last fit says: its bends, and how many of them the rows
 * decided, not the prior with standard deviation @last (MacKay, Bayesian Interpolation, 1992). A policy
 * that boosts bends more than most, and what is measured must not lose to what is believed. @usual and what
 * is returned are in mW.
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

/* Before anything is fitted: a busy core cannot have cost more than all the power there was. */
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

/* Before a fit nothing is known of the bends: they may be as large as the largest, and the rows tell. */
static void policy_prior(struct work *work, const struct device_policy *policy, size_t first, double part,
                         double most, bool first_time)
{
        double *sd = &work->bend_sd[first];

        *sd = first_time ? most : learn_bend(work, policy, first, part * most, *sd);
        prior_smooth(work->fit->prior, policy, first, *sd);
}

void prior_make(struct work *work, bool first_time)
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

/* Our belief in the usual size of a gauge's waves is worth so many waves that were seen. */
#define LEVEL_BELIEF 6

/*
 * How large this gauge's waves are: what is seen of them,
 * and what may still hide (expectation and maximisation: Dempster, Laird and Rubin 1977).
 */
void learn_level(struct work *work)
{
        double usual = work->options->level_sd, squares = LEVEL_BELIEF * usual * usual;

        for (size_t j = work->fit->p; j < work->q; j++) {
                double wave = gsl_vector_get(work->fit->value, j);

                squares += wave * wave + gsl_matrix_get(work->inverse, j, j);
        }
        work->level_sd = sqrt(squares / (double)(LEVEL_BELIEF + work->fit->z));
}
