/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sensor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/util.h"

#define STREAM_SENSOR UINT64_C(0x73656e736f72)
#define FAR_ABOVE 1.5 /* times what is shown, from which on a filter jumps */
#define MINUTE_S 60.0

int sensor_init(struct sensor *sensor, const struct profile_virtual *device, double period_s,
                const struct rng *run)
{
        struct rng copy = *run;

        *sensor = (struct sensor){ .alpha = 1, .attack = device->gauge_attack, .derived = device->gauge_derived,
                                   .skip = device->gauge_skip_percent / 100,
                                   .delay_ns = (uint64_t)llround(device->gauge_delay_s * 1e9) };
        rng_seed(&sensor->rng, rng_next(&copy), STREAM_SENSOR);
        if (device->gauge_load_mw > 0)
                sensor->gain_per_w = device->gauge_gain_at_load_percent / 100 / (device->gauge_load_mw / 1e3);
        if (!(period_s > 0))
                return 0;
        if (device->gauge_smoothing_s > 0)
                sensor->alpha = -expm1(-period_s / device->gauge_smoothing_s);
        if (device->gauge_average_s > 0) {
                sensor->n_window = (size_t)fmax(1, round(device->gauge_average_s / period_s));
                sensor->window_w = calloc(sensor->n_window, sizeof(*sensor->window_w));
        }
        if (sensor->delay_ns > 0) {
                sensor->n_late = (size_t)ceil(device->gauge_delay_s / period_s) + 1;
                sensor->late = calloc(sensor->n_late, sizeof(*sensor->late));
        }
        return (sensor->n_window && !sensor->window_w) || (sensor->n_late && !sensor->late) ? -ENOMEM : 0;
}

void sensor_clear(struct sensor *sensor)
{
        free(sensor->window_w);
        free(sensor->late);
}

void sensor_start(struct sensor *sensor, double power_w, double full_j)
{
        sensor->smooth_w = power_w;
        sensor->full_j = full_j;
        for (size_t i = 0; i < sensor->n_window; i++)
                sensor->window_w[i] = power_w;
}

static double window_mean(struct sensor *sensor, double power_w)
{
        double sum = 0;

        sensor->window_w[sensor->at++ % sensor->n_window] = power_w;
        for (size_t i = 0; i < sensor->n_window; i++)
                sum += sensor->window_w[i];
        return sum / (double)sensor->n_window;
}

/* The charge that is left over the time that it is predicted to last, in whole minutes. */
static double derived_w(const struct sensor *sensor, double power_w, double level)
{
        double left_j = floor(100 * level + 1e-6) / 100 * sensor->full_j,
               minutes = round(left_j / fmax(power_w, 1e-6) / MINUTE_S);

        return left_j / (fmax(1, minutes) * MINUTE_S);
}

double sensor_filter(struct sensor *sensor, double power_w, double level)
{
        double part =
                power_w > FAR_ABOVE * sensor->smooth_w ? fmax(sensor->attack, sensor->alpha) : sensor->alpha;

        if (part < 1)
                power_w = sensor->smooth_w + part * (power_w - sensor->smooth_w);
        sensor->smooth_w = power_w;
        if (sensor->window_w)
                power_w = window_mean(sensor, power_w);
        return sensor->derived ? derived_w(sensor, power_w, level) : power_w;
}

bool sensor_skips(struct sensor *sensor)
{
        return sensor->skip > 0 && rng_uniform(&sensor->rng) < sensor->skip;
}

bool sensor_delay(struct sensor *sensor, uint64_t now_ns, double power_w)
{
        if (!sensor->late)
                return false;
        sensor->late[(sensor->first + sensor->waiting++) % sensor->n_late] =
                        (struct sensor_late){ now_ns + sensor->delay_ns, power_w };
        return true;
}

uint64_t sensor_next_ns(const struct sensor *sensor)
{
        return sensor->waiting ? sensor->late[sensor->first].at_ns : UINT64_MAX;
}

double sensor_take(struct sensor *sensor)
{
        double power_w = sensor->late[sensor->first].power_w;

        sensor->first = (sensor->first + 1) % sensor->n_late;
        sensor->waiting--;
        return power_w;
}
