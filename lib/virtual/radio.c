/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio.h"

#include <math.h>

#define LEAST 0.5
#define MOST 3.0
#define HALVINGS 60

static double below(double x)
{
        return erfc(-x / M_SQRT2) / 2;
}

/* Mean of exp(@log_mean + @log_sd * normal), cut at LEAST and MOST. */
static double mean_of(double log_mean, double log_sd)
{
        double low = (log(LEAST) - log_mean) / log_sd, high = (log(MOST) - log_mean) / log_sd;

        return LEAST * below(low) + MOST * below(-high) +
               exp(log_mean + log_sd * log_sd / 2) * (below(high - log_sd) - below(low - log_sd));
}

/* The cut takes more from one side than from the other: where the mean is 1 all the same. */
static double find_log_mean(double log_sd)
{
        double low = log(LEAST) - 6 * log_sd, high = log(MOST) + 6 * log_sd;

        for (unsigned i = 0; i < HALVINGS; i++) {
                double middle = (low + high) / 2;

                if (mean_of(middle, log_sd) < 1)
                        low = middle;
                else
                        high = middle;
        }
        return (low + high) / 2;
}

static void apply(struct radio *radio)
{
        radio->factor = fmin(MOST, fmax(LEAST, exp(radio->log_mean + radio->log_sd * radio->wander.value)));
}

void radio_init(struct radio *radio, const struct profile_virtual *device, struct rng *rng)
{
        *radio = (struct radio){ .log_sd = device->radio_variation, .factor = 1 };
        if (radio->log_sd == 0)
                return;
        radio->log_mean = find_log_mean(radio->log_sd);
        wander_init(&radio->wander, device->radio_variation_tau_s, rng);
        apply(radio);
}

void radio_next_second(struct radio *radio)
{
        if (radio->log_sd == 0)
                return;
        wander_next(&radio->wander);
        apply(radio);
}
