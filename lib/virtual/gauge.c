/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gauge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/units.h"
#include "util/util.h"

#define SHORTEST_PERIOD_S 0.01
#define STEP_ROUNDING 1e-9  /* 90 % is shown as 90 %, even if 0.9 * 100 is slightly less */

/* 0 switches it off. A period of a thousandth of a second would only make virtual time slow. */
static uint64_t period_ns(double period_s)
{
        return period_s > 0 ? (uint64_t)llround(fmax(period_s, SHORTEST_PERIOD_S) * 1e9) : 0;
}

#define STREAM_SENSOR UINT64_C(0x73656e736f72)
#define FAR_ABOVE 1.5 /* times what is shown, from which on a filter jumps */
#define MINUTE_S 60.0

/* @run: only its copy is drawn from, so that no other effect changes. */
static int sensor_init(struct sensor *sensor, const struct profile_virtual *device, double period_s,
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

static void sensor_clear(struct sensor *sensor)
{
        free(sensor->window_w);
        free(sensor->late);
}

/* As if it had shown @power_w for ever. */
static void sensor_start(struct sensor *sensor, double power_w, double full_j)
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

/* An update: what is shown for a mean power of @power_w since the last one, before rounding. */
static double sensor_filter(struct sensor *sensor, double power_w, double level)
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

/* Does this update repeat what was shown? */
static bool sensor_skips(struct sensor *sensor)
{
        return sensor->skip > 0 && rng_uniform(&sensor->rng) < sensor->skip;
}

/* Keeps @power_w until it is to be shown. False: it is shown at once. */
static bool sensor_delay(struct sensor *sensor, uint64_t now_ns, double power_w)
{
        if (!sensor->late)
                return false;
        sensor->late[(sensor->first + sensor->waiting++) % sensor->n_late] =
                        (struct sensor_late){ now_ns + sensor->delay_ns, power_w };
        return true;
}

/* When the next late update comes; UINT64_MAX: none. */
static uint64_t sensor_next_ns(const struct sensor *sensor)
{
        return sensor->waiting ? sensor->late[sensor->first].at_ns : UINT64_MAX;
}

static double sensor_take(struct sensor *sensor)
{
        double power_w = sensor->late[sensor->first].power_w;

        sensor->first = (sensor->first + 1) % sensor->n_late;
        sensor->waiting--;
        return power_w;
}

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

/* @run: only its copy is drawn from. */
static void level_error_init(struct level_error *error, const struct profile_virtual *device, const struct rng *run)
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

/* To be told each @charge that is shown: a full battery begins a discharge. */
static void level_error_discharge(struct level_error *error, double charge)
{
        if (charge >= 1 && !error->fresh && error->any)
                draw(error);
        error->fresh = charge >= 1;
}

/* both 0..1 */
static double level_error_shown(const struct level_error *error, double charge)
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

#define HARMONICS 3
#define STREAM_PIECES UINT64_C(0x706965636573)
#define STEEPEST 0.05 /* a percent has at least this share of its nominal charge, whatever the file says */

struct nonlinearity {
        double amplitude[HARMONICS];
        double phase[HARMONICS];
        double piece[PROFILE_GAUGE_PIECES_MAX];
        unsigned n_pieces;
};

/* Relative error of the charge per shown percent at the true charge @s: waves, and pieces of equal length. */
static double nonlinearity_at(const struct nonlinearity *error, double s)
{
        double sum = 0;

        for (unsigned k = 0; k < HARMONICS; k++)
                sum += error->amplitude[k] * cos(2 * M_PI * (k + 1) * s + error->phase[k]);
        if (error->n_pieces > 0)
                sum += error->piece[MIN((unsigned)(s * error->n_pieces), error->n_pieces - 1)];
        return sum;
}

/* d(shown)/ds = 1/(1 + error(s)) by Simpson's rule, then scaled so that empty and full are shown as such. */
static void integrate(double *shown, const struct nonlinearity *error)
{
        const double h = 1.0 / (GAUGE_CURVE_POINTS - 1);

        shown[0] = 0;
        for (unsigned i = 1; i < GAUGE_CURVE_POINTS; i++) {
                double s = i * h, sum = 0;
                const double weight[] = { 1, 4, 1 };

                for (unsigned j = 0; j < 3; j++)
                        sum += weight[j] / fmax(STEEPEST, 1 + nonlinearity_at(error, s - h * (2 - j) / 2));
                shown[i] = shown[i - 1] + sum * h / 6;
        }
        for (unsigned i = 1; i < GAUGE_CURVE_POINTS; i++)
                shown[i] /= shown[GAUGE_CURVE_POINTS - 1];
}

/*
 * @hidden: draws the same number of values whatever the file says, so that a change of one key affects only one effect.
 */
static void gauge_curve_init(struct gauge_curve *curve, const struct profile_virtual *device, struct rng *hidden)
{
        struct nonlinearity error = { .n_pieces = device->gauge_piece_percent > 0 ? device->gauge_pieces : 0 };
        struct rng pieces;

        for (unsigned k = 0; k < HARMONICS; k++)
                error.amplitude[k] = device->nonlinearity_percent / 100 * rng_normal(hidden);
        for (unsigned k = 0; k < HARMONICS; k++)
                error.phase[k] = 2 * M_PI * rng_uniform(hidden);
        rng_seed(&pieces, device->seed, STREAM_PIECES);
        for (unsigned i = 0; i < error.n_pieces; i++)
                error.piece[i] = device->gauge_piece_percent / 100 * rng_normal(&pieces);
        curve->linear = device->nonlinearity_percent == 0 && error.n_pieces == 0;
        if (!curve->linear)
                integrate(curve->shown, &error);
}

/* both 0..1 */
static double gauge_curve_at(const struct gauge_curve *curve, double charge)
{
        double at = charge * (GAUGE_CURVE_POINTS - 1);
        unsigned i = (unsigned)at;

        if (curve->linear || charge >= 1)
                return charge;
        return curve->shown[i] + (at - i) * (curve->shown[i + 1] - curve->shown[i]);
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
