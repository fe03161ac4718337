/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limit-saved.h"

#include <errno.h>
#include <math.h>

#include "util/quantile.h"
#include "util/units.h"
#include "util/util.h"

#define HOUR_NS (3600 * (int64_t)NS_PER_S)
#define BEFORE_NS (7 * 24 * HOUR_NS)
#define BLOCKS_MAX 7
#define LEAST_S 600 /* time in the background that is needed for an answer */

struct part {
        double hours;                   /* time in the background */
        struct joulecast_value percent; /* charge used in all of it */
};

/* 0; -ENODATA: too little; another negative errno. */
static int read_part(const struct ask *ask, const char *app, int64_t from_ns, int64_t to_ns, struct part *ret)
{
        struct joulecast_cost *cost = NULL;
        struct joulecast_cost_app found;
        int err = from_ns < to_ns ? joulecast_cost_new(ask->profile, ask->usage, from_ns, to_ns, &cost) : -ENODATA;

        if (!err)
                err = joulecast_cost_find(cost, app, JOULECAST_BACKGROUND, &found);
        if (!err && (found.active_s < LEAST_S || isnan(found.percent.value)))
                err = -ENODATA;
        if (!err)
                *ret = (struct part){ .hours = found.active_s / 3600, .percent = found.percent };
        joulecast_cost_free(cost);
        return err;
}

struct spread {
        size_t n;
        double deviation;   /* standard deviation of the rates of blocks, percent per hour */
        double block_hours;
};

/* How much the rate differed from time to time. -ENODATA: fewer than two blocks say something. */
static int read_spread(const struct ask *ask, const char *app, int64_t from_ns, int64_t to_ns, struct spread *ret)
{
        int64_t block_ns = MAX((to_ns - from_ns) / BLOCKS_MAX, HOUR_NS);
        double rates[BLOCKS_MAX], mean = 0, squares = 0;
        size_t n = 0;

        for (int64_t at_ns = to_ns; n < BLOCKS_MAX && at_ns - block_ns >= from_ns; at_ns -= block_ns) {
                struct part part;
                int err = read_part(ask, app, at_ns - block_ns, at_ns, &part);

                if (err && err != -ENODATA)
                        return err;
                if (!err)
                        rates[n++] = part.percent.value / part.hours;
        }
        if (n < 2)
                return -ENODATA;
        for (size_t i = 0; i < n; i++)
                mean += rates[i] / (double)n;
        for (size_t i = 0; i < n; i++)
                squares += (rates[i] - mean) * (rates[i] - mean);
        *ret = (struct spread){ n, sqrt(squares / (double)(n - 1)), (double)block_ns / (double)HOUR_NS };
        return 0;
}

static double half_width(const struct joulecast_value *value)
{
        return (value->high - value->low) / 2; /* NaN: the profile has no errors */
}

/*
 * The energy that it would have taken is estimated from before the limit: the mean of the blocks has an error, and the
 * time since then may differ from them. The model's errors of both parts count as independent, though most are common.
 */
static void compare(const struct part *before, const struct spread *spread, const struct part *since,
                    struct limit_saved *ret)
{
        double rate = before->percent.value / before->hours, times = MAX(1, since->hours / spread->block_hours);
        double scatter = quantile_student_t((double)(spread->n - 1), 0.95) * spread->deviation * since->hours *
                         sqrt(1 / (double)spread->n + 1 / times);
        double model = half_width(&before->percent) / before->hours * since->hours;
        double half = sqrt(scatter * scatter + model * model + pow(half_width(&since->percent), 2));

        ret->known = true;
        ret->hours = since->hours;
        ret->before_per_hour = rate;
        ret->since_per_hour = since->percent.value / since->hours;
        ret->percent.value = rate * since->hours - since->percent.value;
        ret->percent.low = ret->percent.value - half;
        ret->percent.high = ret->percent.value + half;
}

int limit_saved_read(const struct ask *ask, const char *app, int64_t since_ns, struct limit_saved *ret)
{
        struct part before, since;
        struct spread spread;
        int64_t first_ns, last_ns;
        int err = joulecast_usage_span(ask->usage, &first_ns, &last_ns);

        *ret = (struct limit_saved){
                .percent = { NAN, NAN, NAN }, .before_per_hour = NAN, .since_per_hour = NAN, .hours = NAN
        };
        if (!err) {
                first_ns = MAX(first_ns, since_ns - BEFORE_NS);
                err = read_part(ask, app, first_ns, since_ns, &before);
        }
        if (!err)
                err = read_spread(ask, app, first_ns, since_ns, &spread);
        if (!err)
                err = read_part(ask, app, since_ns, last_ns, &since);
        if (!err)
                compare(&before, &spread, &since, ret);
        return err == -ENODATA ? 0 : err;
}
