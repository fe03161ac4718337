/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model.h"

#include <math.h>
#include <stdlib.h>

#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

bool model_knows(const struct model_vector *vector)
{
        for (size_t i = 0; i < vector->n; i++) {
                if (vector->weight[i] != 0)
                        return true;
        }
        return vector->unpriced == 0;
}

double model_energy_mj(const struct profile *profile, const struct model_vector *vector)
{
        double sum = 0;

        for (size_t i = 0; i < vector->n; i++)
                sum += vector->weight[i] * profile->coefficients[i].value;
        return sum;
}

/*
 * v'Cv over the weights that are not 0, of which an app has a dozen; NaN where a standard error is unknown, and
 * never where memory is: nothing is allocated here.
 */
static double quadratic_form(const struct profile *profile, const struct model_vector *vector)
{
        size_t n = vector->n;
        double sum = 0;

        for (size_t a = 0; a < n; a++) {
                const double *row = profile->covariance + a * n;
                double inner = 0;

                if (vector->weight[a] == 0)
                        continue;
                for (size_t b = 0; b < a; b++)
                        if (vector->weight[b] != 0)
                                inner += vector->weight[b] * row[b];
                sum += vector->weight[a] * (2 * inner + vector->weight[a] * row[a]);
        }
        return sum < 0 ? 0 : sum; /* NaN stays */
}

/* [fit] need not have both percents: one that is not there adds nothing. */
static double fraction(double percent)
{
        return isnan(percent) ? 0 : percent / 100;
}

double model_variance_j2(const struct profile *profile, const struct model_vector *vector)
{
        double component_mj[COMPONENT_COUNT] = { 0 }, total_mj = 0, variance_mj2;

        if (isnan(profile->degrees_of_freedom))
                return NAN;
        variance_mj2 = quadratic_form(profile, vector);
        if (isnan(variance_mj2))
                return NAN;
        for (size_t i = 0; i < vector->n; i++)
                component_mj[model_term_component(profile->coefficients[i].term)] +=
                        vector->weight[i] * profile->coefficients[i].value;
        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
                double discrepancy_mj = fraction(profile->discrepancy_percent) * component_mj[c];

                total_mj += component_mj[c];
                variance_mj2 += discrepancy_mj * discrepancy_mj;
        }
        total_mj *= fraction(profile->scale_percent);
        return (variance_mj2 + total_mj * total_mj) * 1e-6;
}

void model_energy(const struct profile *profile, const struct model_vector *vector, double level,
                  double extra_sd_j, struct model_energy *ret)
{
        double spread_j = 0, sd_j, t;

        *ret = (struct model_energy){ 0 };
        for (size_t i = 0; i < vector->n; i++)
                ret->component_j[model_term_component(profile->coefficients[i].term)] +=
                        vector->weight[i] * profile->coefficients[i].value * 1e-3;
        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
                ret->value_j += ret->component_j[c];
                spread_j += vector->component_spread_mj[c] * 1e-3;
                if (vector->unknown & (UINT32_C(1) << c) && ret->component_j[c] == 0)
                        ret->component_j[c] = NAN;
        }
        t = quantile_student_t(profile->degrees_of_freedom, level);
        sd_j = sqrt(model_variance_j2(profile, vector) + extra_sd_j * extra_sd_j);
        ret->half_width_j = hypot(t * sd_j, spread_j);
        if (!model_knows(vector))
                ret->value_j = ret->half_width_j = NAN;
}

static double extra_number(const struct profile *profile, const char *key, double otherwise)
{
        const char *text = profile_extra(profile, "base", key);
        double value;

        return text && util_parse_double(text, &value) == 0 && value >= 0 && value < 1e9 ? value : otherwise;
}

/*
 * A process of standard deviation s and exponential correlation tau, integrated over T, has the variance
 * 2 s^2 tau (T - tau (1 - exp(-T/tau))): s^2 T^2 where T is short, 2 s^2 tau T where it is long.
 */
double model_background_sd_j(const struct profile *profile, double seconds)
{
        double sd_w = extra_number(profile, "x-background_sd_mw", TUNING_BACKGROUND_SD_MW) * 1e-3;
        double tau_s = extra_number(profile, "x-background_tau_s", TUNING_BACKGROUND_TAU_S);

        if (!(seconds > 0))
                return 0;
        if (tau_s < 1e-6 * seconds)
                return sd_w * sqrt(2 * tau_s * seconds);
        return sd_w * sqrt(2 * tau_s * fmax(seconds + tau_s * expm1(-seconds / tau_s), 0));
}
