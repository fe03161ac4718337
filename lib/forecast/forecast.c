/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The energy that an app will use. */

#include "forecast.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "future.h"
#include "util/quantile.h"
#include "util/units.h"
#include "util/util.h"

/* @unit_sd: relative error of the unit. No upper end if some parts have no coefficient, as they come on top. */
static struct cost_value value_of(const struct future *future, const struct sum *sum, double unit, double unit_sd)
{
        double value = future_sum_energy_j(future, sum);
        double width = profile_width(future->history->profile, ANSWER_PREDICT);
        double half = width * quantile_normal(FORECAST_LEVEL) * hypot(future_sum_sd_j(future, sum), unit_sd * value);

        return (struct cost_value){
                .value = value / unit,
                .low = isnan(half) ? NAN : fmax(value - half, 0) / unit,
                .high = sum->vector.unpriced ? NAN : (value + half) / unit,
        };
}

int forecast_app(const struct history *history, const char *app, double minutes,
                 const struct forecast_battery *battery, struct forecast *ret)
{
        _cleanup_(future_clear) struct future future = { 0 };
        _cleanup_(future_sum_clear) struct sum own = { 0 }, device = { 0 };
        const struct profile *profile = history->profile;
        struct charge charge = { .percent_j = J_PER_PERCENT(profile->energy_full_mwh) };
        struct forecast forecast = { .minutes = minutes };
        ssize_t found = history_find(history, app);
        size_t index = (size_t)found;
        int err;

        if (!(minutes >= 0 && minutes <= MINUTES_MAX))
                return -EINVAL;
        if (found < 0)
                return -ENODATA;
        err = future_make(history, &index, 1, future_brightness(history, battery), &future);
        if (err == 0)
                err = future_sum_own(&own, &future, 0, 60 * minutes);
        if (err == 0)
                err = future_sum_actor(&device, &future, 0, 60 * minutes);
        if (err < 0)
                return err;
        /* Charge unknown: percent of the profile's battery. */
        if (charge_of(history, battery->known ? &battery->battery : NULL, future_read_load_w(&future, battery), NAN,
                      &charge) == 0)
                charge.percent_j *= 1 - future_sag(&future, &charge, &device, future_sum_energy_j(&future, &device));
        forecast.energy_j = value_of(&future, &own, 1, profile_joule_error(profile));
        forecast.percent = value_of(&future, &own, charge.percent_j, charge.energy_sd);
        forecast.device_percent = value_of(&future, &device, charge.percent_j, charge.energy_sd);
        snprintf(forecast.app, sizeof(forecast.app), "%s", history->apps[index].app);
        future_basis(&future, battery, NAN, device.vector.unpriced, forecast.basis);
        *ret = forecast;
        return 0;
}

int forecast_use(const struct history *history, const struct budget_reserve *apps, size_t n, double other_minutes,
                 const struct forecast_battery *battery, struct cost_value *energy_j)
{
        _cleanup_(future_clear) struct future future = { 0 };
        _cleanup_(future_sum_clear) struct sum sum = { 0 };
        size_t indices[BUDGET_RESERVES_MAX];
        int err = n <= BUDGET_RESERVES_MAX ? 0 : -EINVAL;

        for (size_t i = 0; i < n && err == 0; i++) {
                ssize_t found = history_find(history, apps[i].app);

                indices[i] = (size_t)found;
                err = found < 0 ? -ENODATA : 0;
        }
        if (err == 0)
                err = future_make(history, indices, n, future_brightness(history, battery), &future);
        future.suspend_share = 0; /* all of that time is awake */
        for (size_t i = 0; i < n && err == 0; i++)
                err = future_sum_actor(&sum, &future, i, 60 * apps[i].minutes);
        if (err == 0)
                err = future_sum_standby(&sum, &future, 60 * other_minutes);
        if (err == 0)
                *energy_j = value_of(&future, &sum, 1, 0); /* to compare with the shown charge: no error of joules */
        return err;
}
