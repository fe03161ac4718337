/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <math.h>

#define LEAST 0.5
#define MOST 3.0
#define HALVINGS 60

/* A typical signal, and the range that network cards report. */
#define USUAL_DBM (-60)
#define WEAKEST_DBM (-100)
#define STRONGEST_DBM (-20)

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

/*
 * The cut removes more on one side than on the other; this is the log mean with which the mean is 1 all the
 * same.
 */
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

static void apply(struct reception *reception)
{
        reception->factor = fmin(MOST, fmax(LEAST,
                                            exp(reception->log_mean + reception->log_sd * reception->wander.value)));
}

void reception_init(struct reception *reception, const struct profile_virtual *device, struct rng *rng)
{
        *reception = (struct reception){ .log_sd = device->radio_variation, .factor = 1 };
        if (reception->log_sd == 0)
                return;
        reception->log_mean = find_log_mean(reception->log_sd);
        wander_init(&reception->wander, device->radio_variation_tau_s, rng);
        reception->signal_db = device->radio_signal_db;
        reception->noise_db = device->radio_signal_noise_db;
        rng_seed(&reception->noise, rng_next(rng), 0);
        apply(reception);
}

void reception_next_second(struct reception *reception)
{
        if (reception->log_sd == 0)
                return;
        wander_next(&reception->wander);
        apply(reception);
}

bool reception_dbm(struct reception *reception, int32_t *ret)
{
        double dbm;

        if (reception->log_sd == 0 || reception->signal_db == 0)
                return false;
        dbm = USUAL_DBM - reception->signal_db * reception->wander.value + reception->noise_db *
              rng_normal(&reception->noise);
        *ret = (int32_t)lround(fmin(STRONGEST_DBM, fmax(WEAKEST_DBM, dbm)));
        return true;
}
