/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gauge.h"

#include <math.h>

#include "util/units.h"
#include "util/util.h"

#define SHORTEST_PERIOD_S 0.01
#define STEP_ROUNDING 1e-9  /* 90 % is shown as 90 %, even if 0.9 * 100 is slightly less */

/* 0 switches it off. A period of a thousandth of a second would only make virtual time slow. */
static uint64_t period_ns(double period_s)
{
        return period_s > 0 ? (uint64_t)llround(fmax(period_s, SHORTEST_PERIOD_S) * 1e9) : 0;
}

/*
 * All hidden constants are drawn in this order, whether a file uses them or not, so that a change of one key
 * affects only one effect.
 */
int gauge_init(struct gauge *gauge, const struct profile_virtual *device, struct rng *hidden, struct rng *run)
{
        *gauge = (struct gauge){
                .step = device->level_step_percent / 100,
                .level_period_ns = period_ns(device->level_refresh_s),
                .power_period_ns = period_ns(device->gauge_period_s),
                .noise = device->gauge_noise_percent / 100,
                .quantum_w = device->gauge_quantum_mw / 1e3,
        };
        gauge_curve_init(&gauge->curve, device, hidden);
        gauge->gain = 1 + device->gauge_gain_percent / 100 * rng_normal(hidden);
        gauge->offset_w = device->gauge_offset_mw / 1e3 * rng_normal(hidden);
        rng_seed(&gauge->rng, rng_next(run), 0);
        gauge->next_level_ns = 1 + (uint64_t)(rng_uniform(run) * (double)gauge->level_period_ns);
        gauge->next_power_ns = 1 + (uint64_t)(rng_uniform(run) * (double)gauge->power_period_ns);
        level_error_init(&gauge->error, device, run);
        return sensor_init(&gauge->sensor, device, (double)gauge->power_period_ns / 1e9, run);
}

void gauge_clear(struct gauge *gauge)
{
        sensor_clear(&gauge->sensor);
}

static double floor_to(double value, double step)
{
        return step > 0 ? floor(value / step + STEP_ROUNDING) * step : value;
}

/*
 * Noise, gain and offset are the sensor's; what is made of its values comes after them, and the quantum last.
 */
static double shown_power(struct gauge *gauge, double power_w)
{
        double shown_w = power_w * (gauge->gain + gauge->sensor.gain_per_w * power_w) + gauge->offset_w;

        if (gauge->noise > 0)
                shown_w *= 1 + gauge->noise * rng_normal(&gauge->rng);
        shown_w = sensor_filter(&gauge->sensor, shown_w, gauge->level);
        if (gauge->quantum_w > 0)
                shown_w = gauge->quantum_w * round(shown_w / gauge->quantum_w);
        return fmax(0, shown_w);
}

static void show_level(struct gauge *gauge, const struct cell *cell)
{
        level_error_discharge(&gauge->error, cell->charge);
        gauge->level = floor_to(level_error_shown(&gauge->error, gauge_curve_at(&gauge->curve, cell->charge)),
                                gauge->step);
}

void gauge_start(struct gauge *gauge, const struct cell *cell, double power_w)
{
        show_level(gauge, cell);
        sensor_start(&gauge->sensor, power_w, cell->full_j);
        if (gauge->power_period_ns > 0)
                gauge->power_w = shown_power(gauge, power_w);
}

uint64_t gauge_next_ns(const struct gauge *gauge)
{
        uint64_t next_ns = sensor_next_ns(&gauge->sensor);

        if (gauge->level_period_ns > 0)
                next_ns = MIN(next_ns, gauge->next_level_ns);
        if (gauge->power_period_ns > 0)
                next_ns = MIN(next_ns, gauge->next_power_ns);
        return next_ns;
}

void gauge_refresh_level(struct gauge *gauge, const struct cell *cell, uint64_t now_ns)
{
        if (gauge->level_period_ns > 0) {
                if (now_ns < gauge->next_level_ns)
                        return;
                gauge->next_level_ns += gauge->level_period_ns;
        }
        show_level(gauge, cell);
}

static void measure_power(struct gauge *gauge, uint64_t now_ns)
{
        double shown_w = shown_power(gauge, gauge->energy_j / ((double)(now_ns - gauge->since_ns) / 1e9));

        gauge->energy_j = 0;
        gauge->since_ns = now_ns;
        gauge->next_power_ns += gauge->power_period_ns;
        if (!sensor_skips(&gauge->sensor) && !sensor_delay(&gauge->sensor, now_ns, shown_w))
                gauge->power_w = shown_w;
}

void gauge_refresh_power(struct gauge *gauge, uint64_t now_ns)
{
        if (gauge->power_period_ns > 0 && now_ns >= gauge->next_power_ns)
                measure_power(gauge, now_ns);
        while (sensor_next_ns(&gauge->sensor) <= now_ns)
                gauge->power_w = sensor_take(&gauge->sensor);
}
