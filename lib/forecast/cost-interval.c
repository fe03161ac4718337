/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cost of intervals that were just made: what is drawn now. */

#include <errno.h>
#include <math.h>

#include "cost.h"
#include "util/units.h"
#include "util/util.h"

static int add_row(struct cost_maker *maker, const struct interval *interval, const struct interval_row *row,
                   int64_t uid)
{
        struct store_row stored = {
                .start_ns = interval->start_realtime_ns,
                .end_ns = interval->end_realtime_ns,
                .app = row->app,
                .name = row->app,
                .uid = row->uid,
                .state = row->state,
                .active_ns = row->active_ns,
                .awake_ns = interval->elapsed_ns - interval->suspend_ns,
                .usage = &row->usage,
        };

        if (usage_is_empty(&row->usage)) /* it was only alive */
                return 0;
        store_row_for(uid, &stored);
        return cost_maker_add(maker, &stored);
}

/* Nobody knows what a sensor would have shown while the device was suspended. */
double cost_sensor_w(const struct battery *battery)
{
        return battery->have & BATTERY_POWER && battery->status == BATTERY_DISCHARGING
                       ? (double)battery->power_uw / UJ_PER_J : NAN;
}

static double sensor_j(const struct interval *list, size_t n)
{
        double sum_j = 0;

        for (size_t i = 0; i < n; i++)
                sum_j += list[i].suspend_ns ?
                                 NAN :
                                 cost_sensor_w(&list[i].battery) * (double)list[i].elapsed_ns / NS_PER_S;
        return sum_j;
}

int cost_make_now(const struct profile *profile, const struct interval *list, size_t n, int64_t uid, struct cost **ret)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        double elapsed_s = 0;
        int err = cost_maker_new(&maker);

        for (size_t i = 0; !err && i < n; i++) {
                for (size_t j = 0; !err && j < list[i].n_rows; j++)
                        err = add_row(maker, &list[i], &list[i].rows[j], uid);
                elapsed_s += (double)list[i].elapsed_ns / NS_PER_S;
        }
        if (!err)
                err = cost_maker_finish(maker, profile, NULL, &cost);
        if (err)
                return err;
        cost->recorded_s = elapsed_s;
        cost->measured_j.value = n > 0 ? sensor_j(list, n) : NAN;
        cost->measured_percent = cost->measured_j.value / J_PER_PERCENT(profile->energy_full_mwh);
        cost->unexplained_j.value = cost->measured_j.value - cost->total_j.value;
        *ret = TAKE_PTR(cost);
        return 0;
}
