/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long an app can run, and leave enough for what is needed later. */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "charging.h"
#include "future.h"
#include "source/battery.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* The future with some minutes of the app: its energy, and the uncertainty. */
struct balance {
        struct future *future;
        const struct budget_plan *plan;
        struct charge charge;
        double available_j;
        double available_sd_j;
};

/* Actors are the app, if it is one, and the reserves. */
static size_t first_reserve(const struct budget_plan *plan)
{
        return plan->app ? 1 : 0;
}

static int balance_play(const struct balance *balance, double minutes, struct sum *sum)
{
        return balance->plan->app ? future_sum_actor(sum, balance->future, 0, 60 * minutes) :
                                    future_sum_mixed(sum, balance->future, 60 * minutes);
}

static int balance_sum(const struct balance *balance, double minutes, struct sum *sum)
{
        int err = balance_play(balance, minutes, sum);

        if (err == 0)
                err = future_sum_standby(sum, balance->future, 60 * balance->plan->standby_minutes);
        for (size_t i = 0; i < balance->plan->n_reserves && err == 0; i++)
                err = future_sum_actor(sum, balance->future, i + first_reserve(balance->plan),
                                       60 * balance->plan->reserves[i].minutes);
        return err;
}

/* Energy left over, less @z standard deviations; J. NaN: no error estimates. */
static int balance_left_j(const struct balance *balance, double minutes, double z, double *ret)
{
        _cleanup_(future_sum_clear) struct sum sum = { 0 };
        double left_j;
        int err = balance_sum(balance, minutes, &sum);

        if (err)
                return err;
        left_j = future_left_j(balance->future, &balance->charge, balance->available_j, &sum);
        *ret = z == 0 ? left_j : left_j - z * hypot(balance->available_sd_j, future_sum_sd_j(balance->future, &sum));
        return 0;
}

/*
 * Minutes after which nothing is left: 0 where it never suffices, MINUTES_MAX for that and more; NaN: unknown.
 */
static int balance_minutes(const struct balance *balance, double z, double *ret)
{
        double low = 0, high = 1, left_j;
        int err = balance_left_j(balance, 0, z, &left_j);

        if (err || isnan(left_j) || left_j <= 0) {
                *ret = isnan(left_j) ? NAN : 0;
                return err;
        }
        while ((err = balance_left_j(balance, high, z, &left_j)) == 0 && left_j > 0 && high < MINUTES_MAX) {
                low = high;
                high = fmin(2 * high, MINUTES_MAX);
        }
        if (!err && left_j > 0)
                low = high;
        for (int i = 0; !err && i < 40 && high - low > 1e-4 * high; i++) {
                double middle = (low + high) / 2;

                err = balance_left_j(balance, middle, z, &left_j);
                *(left_j > 0 ? &low : &high) = middle;
        }
        *ret = low;
        return err;
}

/* Unknown are all without a coefficient for the app, and the lower bound without one for any part. */
static int find_minutes(const struct balance *balance, bool known, bool priced, struct cost_value *ret)
{
        const double z = quantile_normal(FORECAST_LEVEL) *
                         profile_width(balance->future->history->profile, ANSWER_BUDGET);
        int err = 0;

        *ret = (struct cost_value){ NAN, NAN, NAN };
        if (known)
                err = balance_minutes(balance, 0, &ret->value);
        if (!err && priced)
                err = balance_minutes(balance, z, &ret->low);
        if (!err && known)
                err = balance_minutes(balance, -z, &ret->high);
        return err;
}

/*
 * Minutes by the battery's own sensor: the charge that it shows, less the reserves, at the power that it gives now.
 * INFINITY: unknown, as on the charger.
 */
static double sensor_minutes(const struct balance *balance, const struct forecast_battery *battery, double reserved_j)
{
        const struct battery *shown = &battery->battery;
        struct charge charge = balance->charge;
        double left_j;

        if (!battery->known || !battery->live || shown->status != BATTERY_DISCHARGING ||
            !(shown->have & BATTERY_POWER) || shown->power_uw <= 0)
                return INFINITY;
        if (isnan(balance->plan->battery_percent))
                charge.percent = battery_percent(shown); /* rounded down, as it is shown */
        left_j = charge_energy_j(&charge, balance->plan->keep_percent) - (isnan(reserved_j) ? 0 : reserved_j);
        return fmax(left_j, 0) / ((double)shown->power_uw / UJ_PER_J) / 60;
}

/*
 * Until enough was recorded, the low end is at most what the sensor allows. For use as it is now, so is the likely
 * value at first; after that it is the geometric mean of both where the sensor says less: the model knows what is
 * usual for a class of devices, the sensor knows the present power.
 */
static void limit_minutes(const struct balance *balance, const struct forecast_battery *battery, double reserved_j,
                          struct budget *budget)
{
        double most = sensor_minutes(balance, battery, reserved_j), *value = &budget->minutes.value;

        if (budget->recorded_s >= TUNING_HISTORY_RULES_S)
                return;
        if (budget->minutes.low > most) /* NaN stays */
                budget->minutes.low = most;
        if (!balance->plan->app && *value > most)
                *value = budget->recorded_s < TUNING_TOO_EARLY_S ? most : sqrt(*value * most);
}

static int check_plan(const struct budget_plan *plan)
{
        if ((plan->app && !*plan->app) || plan->n_reserves > BUDGET_RESERVES_MAX ||
            !(plan->standby_minutes >= 0 && plan->standby_minutes <= MINUTES_MAX) ||
            !(plan->keep_percent >= 0 && plan->keep_percent <= 100) ||
            plan->battery_percent < 0 || plan->battery_percent > 100)
                return -EINVAL;
        for (size_t i = 0; i < plan->n_reserves; i++) {
                const struct budget_reserve *reserve = &plan->reserves[i];

                if (!reserve->app || !*reserve->app || !(reserve->minutes >= 0 && reserve->minutes <= MINUTES_MAX))
                        return -EINVAL;
        }
        return 0;
}

static int find_apps(const struct history *history, const struct budget_plan *plan, size_t *apps,
                     const char **missing)
{
        size_t first = first_reserve(plan);

        for (size_t i = 0; i < plan->n_reserves + first; i++) {
                const char *app = i < first ? plan->app : plan->reserves[i - first].app;
                ssize_t found = history_find(history, app);

                if (found < 0) {
                        if (missing)
                                *missing = app;
                        return -ENODATA;
                }
                apps[i] = (size_t)found;
        }
        return 0;
}

int forecast_budget(const struct history *history, const struct budget_plan *plan,
                    const struct forecast_battery *battery, const char **missing, struct budget *ret)
{
        _cleanup_(future_clear) struct future future = { 0 };
        _cleanup_(future_sum_clear) struct sum reserved = { 0 }, play = { 0 };
        struct balance balance = { .future = &future, .plan = plan };
        size_t apps[ACTORS_MAX];
        struct budget budget = { 0 };
        uint32_t unpriced;
        int err;

        err = check_plan(plan);
        if (err == 0)
                err = find_apps(history, plan, apps, missing);
        if (err == 0)
                err = (plan->app ? future_make : future_make_mixed)(history, apps,
                                                                    plan->n_reserves + first_reserve(plan),
                                                                    future_brightness(history, battery), &future);
        if (err == 0)
                err = charge_of(history, battery->known ? &battery->battery : NULL,
                                future_read_load_w(&future, battery), plan->battery_percent, &balance.charge);
        if (err == 0)
                err = balance_sum(&balance, 0, &reserved);
        if (err == 0)
                err = balance_play(&balance, 1, &play);
        if (err < 0)
                return err;
        balance.available_j = charge_energy_j(&balance.charge, plan->keep_percent);
        balance.available_sd_j = hypot(balance.charge.percent_sd * balance.charge.percent_j,
                                       balance.charge.energy_sd * fmax(balance.available_j, 0));
        unpriced = play.vector.unpriced | reserved.vector.unpriced;
        err = find_minutes(&balance, model_knows(&play.vector), !unpriced, &budget.minutes);
        if (err < 0)
                return err;
        budget.recorded_s = history->awake_s;
        limit_minutes(&balance, battery, future_sum_energy_j(&future, &reserved), &budget);
        budget.reserved_percent =
                plan->keep_percent + future_sum_energy_j(&future, &reserved) / balance.charge.percent_j;
        budget.battery_percent =
                isnan(plan->battery_percent) ? floor(battery_percent(&battery->battery)) : plan->battery_percent;
        snprintf(budget.app, sizeof(budget.app), "%s", plan->app ? history->apps[apps[0]].app : "");
        charging_of(history, battery, balance.charge.percent_j, &budget.charging);
        future.tells_standby = plan->standby_minutes > 0;
        future_basis(&future, battery, plan->battery_percent, unpriced, budget.basis);
        *ret = budget;
        return 0;
}
