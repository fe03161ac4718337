/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/radio-usage.h"
#include "observation/scatter.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Open-circuit voltage of a typical lithium-ion cell as a function of its charge, for devices without
 * voltage_now: 3.62 V + 0.0052 V per percent.
 */
#define GENERIC_VOLTAGE_V(percent) (3.62 + 0.0052 * (percent))

/* Used if the refresh was not measured; typical of phones' fuel gauges. */
#define REFRESH_DEFAULT_S 10.0

/*
 * A variance from a few percents may be larger in truth; its mean is larger by (n - 1) / (n - FEWER_TELL): scaled
 * inverse chi square, with half a degree of freedom for the usual value.
 */
#define FEWER_TELL 2.5

/* Longest gap between two adjacent observations, s. */
#define TOUCH_S 1.5

static enum voltage_basis basis_of(const struct observation *observation, const struct device *device)
{
        if (isfinite(observation->voltage_mv) && isfinite(observation->charge_full_uah))
                return VOLTAGE_MEASURED;
        if (!isfinite(observation->charge_full_uah) && device->energy_full_mwh > 0)
                return VOLTAGE_MEASURED; /* the gauge counts energy, so it has measured the voltage */
        return VOLTAGE_GENERIC;
}

static double step_joules(const struct observation *observation, const struct device *device)
{
        double generic_v = GENERIC_VOLTAGE_V(observation->percent);
        double share = observation->steps / 100;

        if (isfinite(observation->charge_full_uah)) {
                double volts = isfinite(observation->voltage_mv) ? observation->voltage_mv / 1000 : generic_v;

                return observation->charge_full_uah * 1e-6 * 3600 * share * volts;
        }
        /* For gauges that count energy the kernel computes percent from energy_now and energy_full. */
        return device->energy_full_mwh * J_PER_MWH * share;
}

static double mean_power_mw(const struct observation *observation, const struct device *device)
{
        if (observation->method == METHOD_GAUGE)
                return observation->power_mw;
        return 1000 * step_joules(observation, device) * NS_PER_S / (double)observation->elapsed_ns;
}

/*
 * Time of the counters, which begins with the mode; its energy is counted from the step of the level before.
 */
static double counted_ns(const struct observation *observation)
{
        return (double)(observation->usage.time_ns ? observation->usage.time_ns : observation->elapsed_ns);
}

static bool usable(const struct row *row)
{
        return isfinite(row->power_mw) && row->power_mw > 0;
}

/* Energy of the packets by the fitted radios, mJ. */
static int add_radio(const struct columns *columns, const struct usage *usage, double *x)
{
        const struct profile *radios = columns->device.radio;
        int err = 0;

        for (enum air air = 0; !err && radios && air < AIR_COUNT; air++) {
                double mj;

                if (!radio_usage_radio(radios, air))
                        continue;
                err = radio_usage_price(radios, air, usage, &mj);
                x[columns->term[radio_usage_term(air)]] += mj;
        }
        return err;
}

/*
 * s_k = s_{k-1} + a (x_k - s_{k-1}) is summed over a dwell of n updates: mean(x) = mean(s) + c (s_n - s_0) /
 * n with c = (1 - a) / a, whatever went before. So only the first and the last reading have to be known.
 */
static double lag_of(const struct observation *observation)
{
        double keep = exp(-observation->refresh_s / observation->gauge_kernel_s);

        return strcmp(observation->gauge_kind, "exponential") == 0 && keep < 1 ? keep / (1 - keep) : 0;
}

static double lag_mw(const struct observation *observation)
{
        double mw = (observation->gauge_end_mw - observation->gauge_begin_mw) / observation->gauge_updates;

        return lag_of(observation) > 0 && isfinite(mw) ? mw : 0;
}

void rows_set_lag(struct rows *rows, double lag)
{
        for (size_t i = 0; i < rows->n; i++)
                rows->list[i].power_mw += (lag - rows->lag) * rows->list[i].lag_mw;
        rows->lag = lag;
}

static int row_make(const struct columns *columns, const struct observation *observation, int64_t epoch_ns,
                     double refresh_s, struct row *row)
{
        double elapsed_ns = (double)observation->elapsed_ns, per_second = NS_PER_S / counted_ns(observation);
        int err;

        row->observation = observation;
        row->seconds = elapsed_ns / NS_PER_S;
        row->start_s = (double)(observation->start_realtime_ns - epoch_ns) / NS_PER_S;
        row->charge = observation->method != METHOD_GAUGE;
        row->level = isfinite(observation->percent) ? observation->percent / 100 : 0.5;
        row->power_mw = mean_power_mw(observation, &columns->device);
        row->refresh_s = row->charge ? refresh_s : 0;
        if (row->charge)
                row->late_s = refresh_s / 2 + fmax(elapsed_ns - counted_ns(observation), 0) / NS_PER_S;
        row->lag_mw = row->charge ? 0 : lag_mw(observation);
        row->updates = observation->gauge_updates > 0 ? observation->gauge_updates : 1;
        columns_row(columns, &observation->usage, row->x);
        err = add_radio(columns, &observation->usage, row->x);
        for (size_t j = 0; j < columns->n; j++)
                row->x[j] *= per_second;
        /* The device was awake all the time, whatever the counters show. */
        row->x[columns->term[TERM_BASE]] = 1;
        row->picture = strcmp(observation->kind, "picture") == 0;
        row->kernel = strcmp(observation->kind, "kind") == 0;
        row->fitted = usable(row) && (!row->kernel || columns_have_kinds(columns)) && !observation->burn &&
                      !observation->held_back && !row->picture &&
                      !observation->rejected[0] && columns_can_fit(&columns->device, observation->kind);
        return err;
}

/*
 * The refresh is learnt during the run, at first as a multiple of the true one. So the shortest one is used
 * for all rows.
 */
static double level_refresh_s(const struct observation *observations, size_t n)
{
        double shortest = INFINITY;

        for (size_t i = 0; i < n; i++)
                if (observations[i].method != METHOD_GAUGE && observations[i].refresh_s > 0)
                        shortest = fmin(shortest, observations[i].refresh_s);
        return isfinite(shortest) ? shortest : REFRESH_DEFAULT_S;
}

int rows_make(const struct columns *columns, const struct observation *observations, size_t n,
              struct rows *ret, enum voltage_basis *basis, char *error, size_t error_size)
{
        struct rows rows = { .p = columns->n };
        double refresh_s = level_refresh_s(observations, n);
        size_t charge = 0, tested;
        int err;

        *basis = VOLTAGE_MEASURED;
        rows.scatter = scatter_of(observations, n, &tested);
        rows.scatter = isnan(rows.scatter)
                               ? 0
                               : rows.scatter * sqrt(((double)tested - 1) / ((double)tested - FEWER_TELL));
        rows.list = calloc(n + 1, sizeof(*rows.list));
        rows.x = calloc(n * columns->n + 1, sizeof(*rows.x));
        if (!rows.list || !rows.x) {
                rows_clear(&rows);
                return -ENOMEM;
        }
        for (size_t i = 0; i < n; i++) {
                struct row *row = &rows.list[rows.n];
                const struct row *before = rows.n > 0 ? row - 1 : NULL;

                if (observations[i].elapsed_ns == 0)
                        continue;
                row->x = rows.x + rows.n * columns->n;
                err = row_make(columns, &observations[i], observations[0].start_realtime_ns, refresh_s, row);
                if (err) {
                        rows_clear(&rows);
                        return err;
                }
                if (row->lag_mw != 0)
                        rows.lag_before = lag_of(&observations[i]);
                row->follows = before && fabs(before->start_s + before->seconds - row->start_s) < TOUCH_S;
                rows.n++;
                if (!row->charge || observations[i].burn || observations[i].rejected[0])
                        continue;
                if (isfinite(row->power_mw))
                        *basis = MAX(*basis, basis_of(&observations[i], &columns->device));
                else
                        charge++;
        }
        if (charge > 0) {
                snprintf(error, error_size,
                         "neither the full charge nor the full energy of the battery is known (observations: %zu), so "
                         "that charge cannot be converted to joules",
                         charge);
                rows_clear(&rows);
                return -EINVAL;
        }
        *ret = rows;
        return 0;
}

void rows_clear(struct rows *rows)
{
        free(rows->list);
        free(rows->x);
        *rows = (struct rows){ 0 };
}
