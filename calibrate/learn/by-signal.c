/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "by-signal.h"

#include <math.h>

/* Less than nothing is not possible, and its logarithm is not there. */
#define LEAST_FACTOR 0.05
#define RESOLVED 1.96

/* Logarithm of the ratio of both, and its standard deviation. */
static double log_ratio(const struct profile *profile, size_t strong, size_t weak, double *ret_sd)
{
        const struct coefficient *a = &profile->coefficients[strong], *b = &profile->coefficients[weak];
        double at_a = fmax(1 + a->value, LEAST_FACTOR), at_b = fmax(1 + b->value, LEAST_FACTOR);

        *ret_sd = sqrt(fmax(pow(a->standard_error / at_a, 2) + pow(b->standard_error / at_b, 2) -
                            2 * profile_covariance(profile, strong, weak) / (at_a * at_b), 0));
        return log(at_b / at_a);
}

bool by_signal_find(const struct profile *profile, struct by_signal *ret)
{
        const struct coefficient *list = profile->coefficients;
        double most = RESOLVED;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                for (size_t j = i + 1; list[i].term == TERM_WIFI_SIGNAL && j < profile->n_coefficients; j++) {
                        double sd, ratio = log_ratio(profile, i, j, &sd);

                        if (!(fabs(ratio) > most * sd) || !(sd > 0))
                                continue;
                        most = fabs(ratio) / sd;
                        *ret = (struct by_signal){ -(int32_t)list[i].point, -(int32_t)list[j].point, exp(ratio),
                                                   exp(ratio - 1.96 * sd), exp(ratio + 1.96 * sd) };
                }
        return most > RESOLVED;
}
