/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "portfolio-usage.h"
#include "util/util.h"

/* Two calibrations of one device differ by less than this factor through their noise. */
#define CLEARLY 1.5

static unsigned components_of(const struct profile *profile)
{
        unsigned components = 0;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (!term_keys[profile->coefficients[i].term].held)
                        components |= 1u << model_term_component(profile->coefficients[i].term);
        return components;
}

static bool has_fewer(const struct profile *profile, const struct profile *before, char *why, size_t size)
{
        unsigned has = components_of(profile), had = components_of(before);
        size_t n;

        if (__builtin_popcount(has) >= __builtin_popcount(had))
                return false;
        n = (size_t)snprintf(why, size, "has no coefficient of ");
        for (unsigned c = 0, lost = had & ~has; c < COMPONENT_COUNT && n < size; c++)
                if (lost & 1u << c) {
                        lost &= ~(1u << c);
                        n += (size_t)snprintf(why + n, size - n, "%s%s", component_names[c], lost ? ", " : "");
                }
        return true;
}

/* Describes the device as the portfolio needs it. */
static void describe(const struct profile *profile, struct device *device)
{
        *device = (struct device){ .energy_full_mwh = profile->energy_full_mwh,
                                   .max_brightness = profile->max_brightness };
        for (size_t i = 0; i < profile->n_policies && device->n_policies < COLUMNS_POLICIES_MAX; i++) {
                const struct profile_policy *from = &profile->policies[i];
                struct device_policy *policy = &device->policies[device->n_policies];

                policy->policy = from->policy;
                policy->n_cpus = from->n_cpus;
                for (size_t k = 0; k < profile->n_coefficients && policy->n_khz < COLUMNS_POINTS_MAX; k++)
                        if (profile->coefficients[k].term == TERM_CPU_ACTIVE &&
                            profile->coefficients[k].policy == from->policy)
                                policy->khz[policy->n_khz++] = profile->coefficients[k].point;
                device->n_policies += policy->n_khz > 0;
        }
}

/* Mean half-width of the totals' 95 % intervals, relative to the totals; NaN unknown. */
static double half_width(const struct profile *profile, const struct portfolio_usage *portfolio)
{
        double sum = 0;

        for (size_t i = 0; i < portfolio->n_totals; i++) {
                struct model_vector vector;
                struct model_energy energy;

                if (model_vector_make(profile, &portfolio->totals[i], &vector) < 0)
                        return NAN;
                model_energy(profile, &vector, 0.95, 0, &energy);
                model_vector_clear(&vector);
                sum += energy.half_width_j / energy.value_j;
        }
        return sum / (double)portfolio->n_totals;
}

static bool is_wider(const struct profile *profile, const struct profile *before, char *why, size_t size)
{
        _cleanup_free_ struct columns *columns = calloc(1, sizeof(*columns)); /* no display columns */
        struct portfolio_usage portfolio;
        double now, then;

        if (!columns)
                return false;
        describe(before, &columns->device);
        if (portfolio_usage_make(&columns->device, columns, NULL, &portfolio) < 0)
                return false;
        now = half_width(profile, &portfolio);
        then = half_width(before, &portfolio);
        portfolio_usage_clear(&portfolio);
        if (!(now > CLEARLY * then))
                return false;
        snprintf(why, size, "gives the energy of typical use within +- %.1f %% (95 %%), and not within +- %.1f %%",
                 100 * now, 100 * then);
        return true;
}

/* outcome-limits.c: rows that contradict each other replace nothing. */
static bool is_doubted(const struct profile *profile, char *why, size_t size)
{
        const char *noise = profile_extra(profile, "fit", "x-noise");

        if (!noise && !profile_extra(profile, "fit", "x-mean_residual_percent"))
                return false;
        if (noise)
                snprintf(why, size, "was made of observations that scatter %.8s times as much as expected",
                         noise);
        else
                snprintf(why, size, "is off by %.8s %% for all of its observations together",
                         profile_extra(profile, "fit", "x-mean_residual_percent"));
        return true;
}

/* Compares with the calibration in the earlier profile, without later learning. */
bool worse_than(const struct profile *profile, const struct profile *before, char *why, size_t size)
{
        _cleanup_(profile_freep) struct profile *measured = NULL;

        if (is_doubted(profile, why, size))
                return true;
        if (strcmp(profile->device, before->device) != 0 || isnan(before->degrees_of_freedom) ||
            profile_measured(before, &measured) < 0)
                return false;
        return has_fewer(profile, measured, why, size) || is_wider(profile, measured, why, size);
}
