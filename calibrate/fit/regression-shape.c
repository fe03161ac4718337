/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a short calibration leaves open: curves that resemble each other, and coefficients that are of a size with
 * another. All are ratios, so that no device is assumed to be large or small; rows that measure a coefficient
 * outweigh them.
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

/* What idling costs at the highest frequency relative to A there, standard deviation; and in the middle relative to that. */
#define IDLE_SD 0.06
#define IDLE_MIDDLE_PART 0.5

/* Before the first fit: the lowest frequency's power relative to the highest one's. */
#define LOWEST_PART 0.35

/* No ratio binds tighter than if the coefficients had this part of their usual size. */
#define LEAST 0.1

/* A term, and another of its size: ratio and standard deviation, both relative to the other. */
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

/* A curve's value at a place, linear between its frequencies. */
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

/* Both columns keep the ratio: @to = @ratio x @from, with a standard deviation in mW. */
static void tie(struct work *work, size_t from, double ratio, size_t to, double sd)
{
        const size_t at[] = { from, to };
        double loose_sd = sd * work->options->looseness;
        const double weight[] = { -ratio / loose_sd, 1 / loose_sd };

        regression_prior_add(work->fit->prior, at, weight, ARRAY_SIZE(at));
}

/* The shape that a curve is like, at a place: 1 at the highest frequency if nothing is known (@like NULL). */
static double shape_at(const struct work *work, const struct curve *like, double x)
{
        double line = LOWEST_PART + (1 - LOWEST_PART) * x;

        if (!like)
                return line;
        return fmax(at_place(work, like, x), LEAST * line * at_place(work, like, 1));
}

/* Each step of @curve is by the factor of the same step of @like, whatever the size of both. */
static void follow(struct work *work, const struct curve *curve, const struct curve *like, double drift, double most)
{
        double size = 0, all = 0;

        for (size_t k = 0; k < curve->policy->n_khz; k++) {
                size += value_at(work, curve->first + k);
                all += shape_at(work, like, place(curve->policy, k));
        }
        for (size_t k = 0; k + 1 < curve->policy->n_khz && all > 0; k++) {
                double from = place(curve->policy, k), to = place(curve->policy, k + 1);
                double a = shape_at(work, like, from), b = shape_at(work, like, to);
                double usual = like ? fmax(size / all, LEAST * most / shape_at(work, like, 1)) : most;

                tie(work, curve->first + k, b / a, curve->first + k + 1, drift * sqrt(to - from) * usual * b);
        }
}

/*
 * What idling costs is nothing, unless the rows show it: a state that idles there (plan.c). Published tables and our
 * estimates have 1 to 3 % of A at the highest frequency, and about half of that in the middle.
 */
static void idle_policy(struct work *work, size_t i, double most, bool first_time)
{
        const struct columns *columns = work->columns;
        size_t first = columns->idle[i], top = first + columns->n_idle[i] - 1;
        size_t active = columns->active[i] + columns->device.policies[i].n_khz - 1;
        double size = most;

        if (first == SIZE_MAX || regression_keeps(work, first))
                return;
        if (!first_time)
                size = fmax(value_at(work, active), LEAST * most);
        tie(work, active, 0, top, IDLE_SD * size);
        if (top > first)
                tie(work, top, IDLE_MIDDLE_PART, first, IDLE_MIDDLE_PART * IDLE_SD * size);
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
                        follow(work, &active, NULL, DRIFT_ACTIVE, most);
                } else {
                        follow(work, &active, first_time ? NULL : &usual, DRIFT_POLICIES, most);
                }
                if (shared.first == SIZE_MAX)
                        continue;
                follow(work, &shared, first_time ? NULL : &active, DRIFT_SHARED, most);
                size = first_time ? most : fmax(value_at(work, active.first + top), LEAST * most);
                tie(work, active.first + top, SHARED_PART, shared.first + top, SHARED_SD * size);
        }
}

static double largest_of(const struct work *work, bool first_time)
{
        const struct columns *columns = work->columns;
        double most = 0;

        for (size_t a = 0; first_time && a < work->fit->n; a++)
                most = fmax(most, work->rows->list[work->fit->index[a]].power_mw);
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
