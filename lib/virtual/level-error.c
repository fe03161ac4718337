/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "level-error.h"

#include <math.h>

#define STREAM_LEVEL UINT64_C(0x6c6576656c)
#define LEAST 0.02 /* percents of charge that each shown one has, whatever was drawn */
#define LAG_KEEP 0.36787944117144233 /* exp(-1): a lag is forgotten within a percent */

/*
 * Gamma of a mean of 1: Marsaglia and Tsang, A simple method for generating gamma variables, 2000, for shapes
 * of 1 and more.
 */
static double gamma_one(struct rng *rng, double sd)
{
        double shape = 1 / (sd * sd), d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

        for (;;) {
                double x = rng_normal(rng), v = pow(1 + c * x, 3);

                if (v > 0 && log(1 - rng_uniform(rng)) < x * x / 2 + d - d * v + d * log(v))
                        return d * v / shape;
        }
}

/* Each percent is drawn for itself; the drift is a log-normal factor of mean 1. */
static void draw_widths(struct level_error *error, double width[LEVEL_PERCENTS])
{
        double sd = sqrt(log1p(error->drift * error->drift)), drift = rng_normal(&error->rng), sum = 0;

        for (unsigned k = 0; k < LEVEL_PERCENTS; k++) {
                width[k] = error->scatter > 0 ? gamma_one(&error->rng, error->scatter) : 1;
                if (error->drift > 0)
                        width[k] *= exp(sd * drift - sd * sd / 2);
                width[k] = fmax(width[k], LEAST);
                drift = error->drift_keep * drift +
                        sqrt(1 - error->drift_keep * error->drift_keep) * rng_normal(&error->rng);
                sum += width[k];
        }
        for (unsigned k = 0; k < LEVEL_PERCENTS; k++)
                width[k] /= sum;
}

/* Empty and full are shown as such. */
static void draw(struct level_error *error)
{
        double width[LEVEL_PERCENTS], sum = 0, lag = rng_normal(&error->rng), *at = error->at;
        const double least = LEAST / LEVEL_PERCENTS;

        draw_widths(error, width);
        at[0] = 0;
        for (unsigned k = 1; k < LEVEL_PERCENTS; k++) {
                sum += width[k - 1];
                at[k] = fmax(at[k - 1] + least, sum + error->lag / LEVEL_PERCENTS * lag);
                lag = LAG_KEEP * lag + sqrt(1 - LAG_KEEP * LAG_KEEP) * rng_normal(&error->rng);
        }
        at[LEVEL_PERCENTS] = 1;
        for (unsigned k = LEVEL_PERCENTS; k-- > 1;)
                at[k] = fmin(at[k], at[k + 1] - least);
}

void level_error_init(struct level_error *error, const struct profile_virtual *device, const struct rng *run)
{
        struct rng copy = *run;

        *error = (struct level_error){
                .scatter = device->level_scatter_percent / 100,
                .drift = device->level_drift_percent / 100,
                .drift_keep = device->level_drift_length_percent > 0
                                      ? exp(-1 / device->level_drift_length_percent)
                                      : 0,
                .lag = device->level_lag_percent,
                .fresh = true,
        };
        error->any = error->scatter > 0 || error->drift > 0 || error->lag > 0;
        rng_seed(&error->rng, rng_next(&copy), STREAM_LEVEL);
        if (error->any)
                draw(error);
}

void level_error_discharge(struct level_error *error, double charge)
{
        if (charge >= 1 && !error->fresh && error->any)
                draw(error);
        error->fresh = charge >= 1;
}

double level_error_shown(const struct level_error *error, double charge)
{
        unsigned low = 0, high = LEVEL_PERCENTS;

        if (!error->any || !(charge > 0) || charge >= 1)
                return charge;
        while (high - low > 1) {
                unsigned middle = (low + high) / 2;

                if (error->at[middle] <= charge)
                        low = middle;
                else
                        high = middle;
        }
        return (low + (charge - error->at[low]) / (error->at[high] - error->at[low])) / LEVEL_PERCENTS;
}
