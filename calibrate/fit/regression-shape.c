/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Priors for coefficients that a short calibration does not determine: curves resemble each other, and some
 * coefficients have a known size relative to another. All are ratios, so no device is assumed to be large or
 * small; rows that measure a coefficient outweigh them.
 */

#include <math.h>

#include "regression-private.h"
#include "util/util.h"

/*
 * How far the logarithms of two curves drift apart over the whole range of frequencies, standard deviation: of A
 * of a policy and of a line, of two policies, and of S and A of one.
 */
#define DRIFT_ACTIVE 1.2
#define DRIFT_POLICIES 0.6
#define DRIFT_SHARED 0.8

/* Usual S at the highest frequency relative to A there, and standard deviation. */
#define SHARED_PART 0.5
#define SHARED_SD 0.6

/*
 * Cost of idling at the highest frequency relative to A there, standard deviation; and its value at a middle
 * frequency relative to that at the highest.
 */
#define IDLE_SD 0.06
#define IDLE_MIDDLE_PART 0.5

/*
 * Rows of ordinary use: the drift about the mean of 89 clusters' tables, 0.05 + 0.49 x + 0.46 x^3 with x relative to
 * the highest frequency, and about V^2 f where the voltages are known (two clusters of one chip).
 */
#define DRIFT_USED 0.9
#define DRIFT_VOLTAGES 0.25

/* Before the first fit: the lowest frequency's power relative to the highest one's. */
#define LOWEST_PART 0.35

/* Lower bound of the standard deviation of a ratio, as a part of the coefficient's usual size. */
#define LEAST 0.1

/* A term with a known size relative to another: ratio and standard deviation. */
static const struct likeness {
        enum term term, other;
        double ratio, sd;
} likenesses[] = {
        { TERM_DISK_WRITE, TERM_DISK_READ, 4, 2.5 },   /* mJ/MB: flash erases */
        { TERM_WIFI_TX, TERM_WIFI_RX, 1.5, 0.6 },      /* mJ/MB: the amplifier */
        { TERM_WIFI_WAKE, TERM_WIFI_RX, 0.4, 0.4 },    /* mJ: awake for some tenths of a second */
        { TERM_WIFI_ON, TERM_BASE, 0.2, 0.2 },
};

struct curve {
        const struct device_policy *policy;
        size_t first;
};

static double value_at(const struct work *work, size_t column)
{
        return gsl_vector_get(work->fit->value, column);
}

/* Position of a frequency among the policy's, 0..1. */
static double place(const struct device_policy *policy, size_t k)
{
        double lowest = policy->khz[0], highest = policy->khz[policy->n_khz - 1];

        return highest > lowest ? (policy->khz[k] - lowest) / (highest - lowest) : 1;
}

/* Value of a curve at a position, linear between its frequencies. */
static double at_place(const struct work *work, const struct curve *curve, double x)
{
        size_t above = 0;
        double low, high, a, b;

        while (above + 1 < curve->policy->n_khz && place(curve->policy, above) < x)
                above++;
        b = value_at(work, curve->first + above);
        if (above == 0)
                return b;
        a = value_at(work, curve->first + above - 1);
        low = place(curve->policy, above - 1);
        high = place(curve->policy, above);
        return a + (b - a) * (x - low) / (high - low);
}

/* Ties both columns to a ratio: @to = @ratio x @from, with a standard deviation in mW. */
static void tie(struct work *work, size_t from, double ratio, size_t to, double sd)
{
        const size_t at[] = { from, to };
        double loose_sd = sd * work->options->looseness;
        const double weight[] = { -ratio / loose_sd, 1 / loose_sd };

        regression_prior_add(work->fit->prior, at, weight, ARRAY_SIZE(at));
}

/* Linear between operating points; below the first its voltage; NaN: above the last. */
static double volts_at(const struct voltages *voltages, double khz)
{
        for (size_t i = 0; voltages && i < voltages->n; i++) {
                const struct voltage *high = &voltages->list[i], *low = i > 0 ? high - 1 : high;

                if (high->khz < khz)
                        continue;
                if (high->khz == low->khz)
                        return high->volts;
                return low->volts + (high->volts - low->volts) * (khz - low->khz) / (double)(high->khz - low->khz);
        }
        return NAN;
}

/* The lowest frequency may be one that stands for all below the rows' (trace-fit.c). */
static bool has_voltages(const struct work *work, const struct device_policy *policy)
{
        const struct voltages *voltages = work->columns->device.voltages;

        return voltages && voltages->n > 0 && policy->khz[policy->n_khz > 1] >= voltages->list[0].khz &&
               policy->khz[policy->n_khz - 1] <= voltages->list[voltages->n - 1].khz;
}

/* Usual A at a place, relative to the highest frequency. */
static double usual_shape(const struct work *work, const struct device_policy *policy, double x)
{
        double lowest = policy->khz[0], highest = policy->khz[policy->n_khz - 1];
        double khz = lowest + x * (highest - lowest), volts;

        if (!work->options->as_used)
                return LOWEST_PART + (1 - LOWEST_PART) * x;
        if (has_voltages(work, policy)) {
                volts = volts_at(work->columns->device.voltages, khz) /
                        volts_at(work->columns->device.voltages, highest);
                return volts * volts * khz / highest;
        }
        return 0.05 + 0.49 * (khz / highest) + 0.46 * pow(khz / highest, 3);
}

double regression_usual_shape(const struct work *work, const struct device_policy *policy, size_t k)
{
        return work->options->as_used ? fmax(usual_shape(work, policy, place(policy, k)), LEAST * LEAST) : 0;
}

static double usual_drift(const struct work *work, const struct device_policy *policy)
{
        if (!work->options->as_used)
                return DRIFT_ACTIVE;
        return has_voltages(work, policy) ? DRIFT_VOLTAGES : DRIFT_USED;
}

/* The shape that a curve is like, at a place: 1 at the highest frequency if nothing is known (@like NULL, or 0). */
static double shape_at(const struct work *work, const struct curve *curve, const struct curve *like, double x)
{
        double usual = usual_shape(work, curve->policy, x);

        if (!like || !(at_place(work, like, 1) > 0))
                return usual;
        return fmax(at_place(work, like, x), LEAST * usual * at_place(work, like, 1));
}

/* Each step of @curve changes by the same factor as the step of @like, whatever the size of both. */
static void follow(struct work *work, const struct curve *curve, const struct curve *like, double drift, double most)
{
        double size = 0, all = 0;

        for (size_t k = 0; k < curve->policy->n_khz; k++) {
                size += value_at(work, curve->first + k);
                all += shape_at(work, curve, like, place(curve->policy, k));
        }
        for (size_t k = 0; k + 1 < curve->policy->n_khz && all > 0; k++) {
                double from = place(curve->policy, k), to = place(curve->policy, k + 1);
                double a = shape_at(work, curve, like, from), b = shape_at(work, curve, like, to);
                double usual = like ? fmax(size / all, LEAST * most / shape_at(work, curve, like, 1)) : most;

                tie(work, curve->first + k, b / a, curve->first + k + 1, drift * sqrt(to - from) * usual * b);
        }
}

/*
 * Idle power is nearly the same part of a busy core's power at each frequency: relative standard deviation. That of
 * the lowest frequency is in the base.
 */
#define IDLE_SHARE_SD 0.15

static void idle_like_busy(struct work *work, size_t policy)
{
        const struct columns *columns = work->columns;
        const struct device_policy *device = &columns->device.policies[policy];
        struct curve active = { device, columns->active[policy] };
        size_t first = columns->idle[policy], top = first + columns->n_idle[policy] - 1;
        double most = value_at(work, active.first + device->n_khz - 1), size = value_at(work, top);
        double least = work->options->as_used ? fmin(value_at(work, active.first), (1 - LEAST) * most) : 0;

        for (size_t j = first; j < top && most > 0; j++)
                for (size_t k = 0; k < device->n_khz; k++)
                        if (device->khz[k] == columns->list[j].point) {
                                double part = fmax(value_at(work, active.first + k) - least, 0) / (most - least);
                                double sd = IDLE_SHARE_SD * fmax(part, LEAST) * fmax(size, LEAST * most);

                                tie(work, top, part, j, sd);
                        }
}

/*
 * The cost of idling is 0 unless the rows show it, in a mode that idles at this frequency (plan.c). Published
 * tables and our estimates have 1 to 3 % of A at the highest frequency, and about half of that in the middle.
 */
static void idle_policy(struct work *work, size_t i, double most, bool first_time)
{
        const struct columns *columns = work->columns;
        size_t first = columns->idle[i], top = first + columns->n_idle[i] - 1;
        size_t active = columns->active[i] + columns->device.policies[i].n_khz - 1;
        double size = most, sd = columns->device.idle_sd > 0 ? columns->device.idle_sd : IDLE_SD;

        if (first == SIZE_MAX || regression_keeps(work, first))
                return;
        if (!first_time)
                size = fmax(value_at(work, active), LEAST * most);
        tie(work, active, columns->device.idle_part, top, sd * size);
        if (columns->device.idle_sd > 0 && !first_time)
                idle_like_busy(work, i);
        else if (top > first)
                tie(work, top, IDLE_MIDDLE_PART, first, IDLE_MIDDLE_PART * sd * size);
}

static void share_policies(struct work *work, double most, bool first_time)
{
        const struct columns *columns = work->columns;
        struct curve usual = { 0 };

        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                struct curve active = { policy, columns->active[i] }, shared = { policy, columns->shared[i] };
                size_t top = policy->n_khz - 1;
                double size;

                if (active.first == SIZE_MAX || policy->n_khz == 0)
                        continue;
                idle_policy(work, i, most, first_time);
                if (regression_keeps(work, active.first)) {
                        usual = usual.policy ? usual : active;
                        continue;
                }
                if (!usual.policy) {
                        usual = active;
                        follow(work, &active, NULL, usual_drift(work, policy), most);
                } else if (has_voltages(work, policy) && work->options->as_used) {
                        follow(work, &active, NULL, DRIFT_VOLTAGES, most);
                } else {
                        follow(work, &active, first_time ? NULL : &usual, DRIFT_POLICIES, most);
                }
                if (shared.first == SIZE_MAX)
                        continue;
                follow(work, &shared, first_time ? NULL : &active,
                       fmin(DRIFT_SHARED, usual_drift(work, policy)), most);
                size = first_time ? most : fmax(value_at(work, active.first + top), LEAST * most);
                if (columns->device.shared_sd > 0)
                        tie(work, active.first + top, columns->device.shared_part, shared.first + top,
                            columns->device.shared_sd * size);
                else
                        tie(work, active.first + top, SHARED_PART, shared.first + top, SHARED_SD * size);
        }
}

/* A curve that came out as 0 is not known to be 0: without a size of its own it has this part of all power. */
#define SIZE_LEAST 1e-3

static double largest_of(const struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        double most = 0;

        for (size_t a = 0; a < work->fit->n; a++)
                most = fmax(most, work->rows->list[work->fit->index[a]].power_mw * (first_time ? 1 : SIZE_LEAST));
        for (size_t i = 0; !first_time && i < columns->device.n_policies; i++)
                for (size_t k = 0; columns->active[i] != SIZE_MAX && k < columns->device.policies[i].n_khz; k++)
                        most = fmax(most, value_at(work, columns->active[i] + k));
        return most;
}

void regression_prior_shapes(struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        double most = largest_of(work, first_time), rest = value_at(work, columns->term[TERM_BASE]);

        if (most > 0)
                share_policies(work, most, first_time);
        for (size_t i = 0; i < ARRAY_SIZE(likenesses); i++) {
                const struct likeness *likeness = &likenesses[i];
                size_t to = columns->term[likeness->term], from = columns->term[likeness->other];
                double size;

                if (to == SIZE_MAX || from == SIZE_MAX || regression_keeps(work, to))
                        continue;
                size = fmax(value_at(work, from), LEAST * rest);
                if (first_time)
                        size = most;
                tie(work, from, likeness->ratio, to, likeness->sd * fmax(size, 1e-3));
        }
}
