/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is believed before a row is seen: neighbouring operating points resemble each other, gauges err little. */

#include <math.h>

#include "regression-private.h"

/* One row d of the prior: information += d d'. */
static void prior_add(gsl_matrix *prior, const size_t *at, const double *weight, size_t n)
{
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        *gsl_matrix_ptr(prior, at[a], at[b]) += weight[a] * weight[b];
}

/*
 * Second differences of neighbours @first..@first+n-1 are 0 with standard deviation @sd, on a grid that need not be
 * even: the second derivative times the square of the mean distance.
 */
static void prior_smooth(gsl_matrix *prior, const struct device_policy *policy, size_t first, double sd)
{
        size_t n = policy->n_khz;
        double mean = n > 1 ? (double)(policy->khz[n - 1] - policy->khz[0]) / (double)(n - 1) : 0;

        for (size_t k = 1; k + 1 < n; k++) {
                double before = (double)(policy->khz[k] - policy->khz[k - 1]) / mean;
                double after = (double)(policy->khz[k + 1] - policy->khz[k]) / mean;
                double weight = 2 / (before + after) / sd;
                size_t at[] = { first + k - 1, first + k, first + k + 1 };
                double row[] = { weight / before, -weight * (1 / before + 1 / after), weight / after };

                prior_add(prior, at, row, 3);
        }
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
                                most = fmax(most, work->rows->list[work->fit->index[a]].power_mw / fmax(busy, 1));
                }
        return most;
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
                prior_smooth(fit->prior, policy, first, work->options->smooth_active * most);
                if (columns->shared[i] != SIZE_MAX)
                        prior_smooth(fit->prior, policy, columns->shared[i], work->options->smooth_shared * most);
        }
        for (size_t j = fit->p; j < work->q; j++)
                gsl_matrix_set(fit->prior, j, j, level * level);
}

/* Our belief in the usual size of a gauge's waves is worth so many waves that were seen. */
#define LEVEL_BELIEF 6

/* How large this gauge's waves are: what is seen of them, and what may still hide (expectation and maximisation). */
void learn_level(struct work *work)
{
        double usual = work->options->level_sd, squares = LEVEL_BELIEF * usual * usual;

        for (size_t j = work->fit->p; j < work->q; j++) {
                double wave = gsl_vector_get(work->fit->value, j);

                squares += wave * wave + gsl_matrix_get(work->inverse, j, j);
        }
        work->level_sd = sqrt(squares / (double)(LEVEL_BELIEF + work->fit->z));
}
