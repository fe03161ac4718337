/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "noise.h"

#include <math.h>

#define AMBIENT_MEAN_C 25.0
#define AMBIENT_TAU_S (3 * 3600.0)
#define RATE_TAU_S 120.0
#define DAEMONS_LOG_SD 0.8

/* Spikes begin one length before the start, so that as many run at the start as at any other time. */
static void spikes_init(struct spikes *spikes, const struct profile_virtual *device, struct rng *rng)
{
        bool any = device->spike_mw > 0 && device->spike_s > 0 && device->spike_per_h > 0;

        *spikes = (struct spikes){
                .power_w = device->spike_mw / 1e3,
                .length_s = device->spike_s,
                .mean_gap_s = any ? 3600 / device->spike_per_h : INFINITY,
                .next_start_s = INFINITY,
                .next_end_s = INFINITY,
        };
        if (!any)
                return;
        rng_seed(&spikes->starts, rng_next(rng), 0);
        spikes->ends = spikes->starts;
        spikes->next_end_s = spikes->mean_gap_s * rng_exponential(&spikes->ends);
        spikes->next_start_s = spikes->mean_gap_s * rng_exponential(&spikes->starts) - spikes->length_s;
        while (spikes->next_start_s < 0) {
                spikes->running++;
                spikes->next_start_s += spikes->mean_gap_s * rng_exponential(&spikes->starts);
        }
}

/* Mean power from @from_s to one second later. */
static double spikes_next(struct spikes *spikes, double from_s)
{
        double to_s = from_s + 1, running_s = spikes->running;

        for (; spikes->next_start_s < to_s; spikes->running++) {
                running_s += to_s - spikes->next_start_s;
                spikes->next_start_s += spikes->mean_gap_s * rng_exponential(&spikes->starts);
        }
        for (; spikes->next_end_s < to_s; spikes->running--) {
                running_s -= to_s - spikes->next_end_s;
                spikes->next_end_s += spikes->mean_gap_s * rng_exponential(&spikes->ends);
        }
        return spikes->power_w * running_s;
}

/* Applies the present values of the processes. An effect that is switched off draws no numbers. */
static void noise_apply(struct noise *noise)
{
        noise->unseen_w = 0;
        if (noise->daemons_mean_w > 0)
                noise->unseen_w = noise->daemons_mean_w * exp(DAEMONS_LOG_SD * noise->daemons.value -
                                                              DAEMONS_LOG_SD * DAEMONS_LOG_SD / 2);
        if (isfinite(noise->spikes.mean_gap_s))
                noise->unseen_w += spikes_next(&noise->spikes, noise->second);
        for (unsigned i = 0; i < RATE_COUNT; i++)
                noise->rate_factor[i] = fmax(0, 1 + noise->rate_sd * noise->rates[i].value);
        noise->ambient_c = AMBIENT_MEAN_C + noise->ambient_sd_c * noise->ambient.value;
}

void noise_init(struct noise *noise, const struct profile_virtual *device, struct rng *rng)
{
        *noise = (struct noise){
                .daemons_mean_w = device->background_mw / 1e3,
                .rate_sd = device->rate_variation_percent / 100,
                .ambient_sd_c = device->ambient_sd_c,
        };
        wander_init(&noise->daemons, device->background_tau_s, rng);
        wander_init(&noise->ambient, AMBIENT_TAU_S, rng);
        for (unsigned i = 0; i < RATE_COUNT; i++)
                wander_init(&noise->rates[i], RATE_TAU_S, rng);
        spikes_init(&noise->spikes, device, rng);
        noise_apply(noise);
}

void noise_next_second(struct noise *noise)
{
        noise->second++;
        if (noise->daemons_mean_w > 0)
                wander_next(&noise->daemons);
        if (noise->ambient_sd_c > 0)
                wander_next(&noise->ambient);
        for (unsigned i = 0; noise->rate_sd > 0 && i < RATE_COUNT; i++)
                wander_next(&noise->rates[i]);
        noise_apply(noise);
}

double noise_mean_w(const struct noise *noise)
{
        const struct spikes *spikes = &noise->spikes;

        return noise->daemons_mean_w + spikes->power_w * spikes->length_s / spikes->mean_gap_s;
}
