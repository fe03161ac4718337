/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "forecast.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "charge.h"
#include "rate.h"
#include "tuning.h"
#include "units.h"
#include "util.h"

#define MINUTES_MAX 1e6 /* two years */
#define STATES_MAX (BUDGET_RESERVES_MAX + 1)

/* An app that runs for a while: its own power, and what others draw meanwhile. */
struct actor {
        size_t app;
        struct rate own;
        struct rate background;
};

/* The pieces a future is made of. */
struct future {
        const struct history *history;
        struct actor actors[STATES_MAX]; /* [0] plays; the others are reserves */
        size_t n_actors;
        struct rate other;               /* background while an app that is no actor has the screen; not used */
        struct rate standby;             /* background while none has */
        struct rate base;
        double suspend_share;            /* of standing by */
};

static void future_clear(struct future *future)
{
        for (size_t i = 0; i < STATES_MAX; i++) {
                rate_clear(&future->actors[i].own);
                rate_clear(&future->actors[i].background);
        }
        rate_clear(&future->other);
        rate_clear(&future->standby);
        rate_clear(&future->base);
}

/* In front, if it ever was; an app that never had the screen is one that works in the background. */
static int actor_own(const struct history *history, struct actor *actor)
{
        int err = rate_of_app(history, actor->app, STATE_FOREGROUND, &actor->own);

        return err == -ENODATA ? rate_of_app(history, actor->app, STATE_BACKGROUND, &actor->own) : err;
}

/* A background app that acts is not part of the usual background too. */
static void without_own(const struct history *history, const struct actor *actor, struct rate *background)
{
        const struct history_app *app = &history->apps[actor->app];
        const struct model_vector *own = &app->states[STATE_BACKGROUND].sum;

        if (app->states[STATE_FOREGROUND].active_s > 0 || !own->weight)
                return;
        for (size_t i = 0; i < background->vector.n; i++)
                background->vector.weight[i] =
                        fmax(background->vector.weight[i] - own->weight[i] / history->awake_s, 0);
        background->power_w = model_energy_mj(history->profile, &background->vector) * 1e-3;
}

/* With a suspend power and a history that suspends, standing by is mostly that. */
static double suspend_share(const struct history *history)
{
        double idle_s = history->awake_s;

        if (profile_find(history->profile, TERM_SUSPEND, 0, 0, "") < 0 || !(history->suspend_s > 0))
                return 0;
        for (size_t b = 0; b < history->n_blocks; b++)
                idle_s -= fmin(history->blocks[b].foreground_s, history->blocks[b].awake_s);
        return history->suspend_s / (history->suspend_s + fmax(idle_s, 0));
}

static int future_make(const struct history *history, const size_t *apps, size_t n_apps, struct future *future)
{
        struct rate background[STATES_MAX + 2];
        int err;

        future->history = history;
        future->n_actors = n_apps;
        err = rate_of_background(history, apps, n_apps, background);
        if (err < 0)
                return err;
        for (size_t i = 0; i < n_apps; i++) {
                future->actors[i].app = apps[i];
                future->actors[i].background = background[i];
        }
        future->other = background[n_apps];
        future->standby = background[n_apps + 1];
        for (size_t i = 0; i < n_apps; i++) {
                err = actor_own(history, &future->actors[i]);
                if (err < 0)
                        return err;
                without_own(history, &future->actors[i], &future->actors[i].background);
        }
        future->suspend_share = suspend_share(history);
        return rate_of_base(history, &future->base);
}

/* Energy to come: weights for the model, and the variance of what is not the model's. */
struct sum {
        struct model_vector vector;
        double variance_j2;
        double seconds; /* awake, for the daemons */
        double energy_j, squares; /* of power times time, and of power squared times time: the mean load of a joule */
};

static void sum_clear(struct sum *sum)
{
        model_vector_clear(&sum->vector);
}

static int sum_add(struct sum *sum, const struct rate *rate, double seconds)
{
        double sd_j = rate_sd_j(rate, seconds);

        sum->variance_j2 += sd_j * sd_j;
        return model_vector_add_scaled(&sum->vector, &rate->vector, seconds);
}

static void sum_load(struct sum *sum, double power_w, double seconds)
{
        sum->energy_j += power_w * seconds;
        sum->squares += power_w * power_w * seconds;
}

static int sum_actor(struct sum *sum, const struct future *future, size_t i, double seconds)
{
        int err = sum_add(sum, &future->actors[i].own, seconds);

        if (err == 0)
                err = sum_add(sum, &future->actors[i].background, seconds);
        if (err == 0)
                err = sum_add(sum, &future->base, seconds);
        sum_load(sum, future->actors[i].own.power_w + future->actors[i].background.power_w + future->base.power_w,
                 seconds);
        sum->seconds += seconds;
        return err;
}

static int sum_standby(struct sum *sum, const struct future *future, double seconds)
{
        double suspend_s = seconds * future->suspend_share, awake_s = seconds - suspend_s;
        ssize_t suspend = profile_find(future->history->profile, TERM_SUSPEND, 0, 0, "");
        int err = sum_add(sum, &future->standby, awake_s);

        if (err == 0)
                err = sum_add(sum, &future->base, awake_s);
        if (err == 0 && suspend >= 0)
                sum->vector.weight[suspend] += suspend_s;
        sum_load(sum, future->standby.power_w + future->base.power_w, awake_s);
        sum->seconds += awake_s;
        return err;
}

/*
 * Standard deviation of a sum at the level's normal quantile: the model's errors have Student's t of the fit, so their
 * part is widened by it. A half range counts as a uniform distribution's. NaN: the profile has no errors.
 */
static double sum_sd_j(const struct sum *sum, const struct profile *profile)
{
        double t = model_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) / model_normal(FORECAST_LEVEL);
        double daemons_j = model_background_sd_j(profile, sum->seconds), spread_j = 0;

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                spread_j += sum->vector.component_spread_mj[c] * 1e-3;
        return sqrt(t * t * model_variance_j2(profile, &sum->vector) + sum->variance_j2 + daemons_j * daemons_j +
                    spread_j * spread_j / 3);
}

/*
 * Part of the energy that the future's load costs by pulling the voltage down further than it was when the battery
 * was read: its charge then gives less.
 */
static double sag(const struct future *future, const struct charge *charge, double read_w, const struct sum *sum)
{
        double full_wh = future->history->profile->energy_full_mwh * 1e-3;
        double load_w = sum->energy_j > 0 ? sum->squares / sum->energy_j : 0;

        return charge->falls ? fmin(fmax(TUNING_SAG_PER_C * (load_w - read_w) / full_wh, 0), 0.5) : 0;
}

/* The load under which the battery was read: by its own sensor, or idle. */
static double read_load_w(const struct future *future, const struct forecast_battery *battery)
{
        return battery->known && battery->battery.have & BATTERY_POWER ?
                       (double)battery->battery.power_uw / UJ_PER_J :
                       future->standby.power_w + future->base.power_w;
}

static struct cost_value value_of(double value, double sd, double unit)
{
        double half = model_normal(FORECAST_LEVEL) * sd;

        return (struct cost_value){
                .value = value / unit,
                .low = isnan(half) ? NAN : fmax(value - half, 0) / unit,
                .high = isnan(half) ? NAN : (value + half) / unit,
        };
}

static void write_basis(const struct future *future, const struct forecast_battery *battery, double said, char *basis)
{
        const struct profile *profile = future->history->profile;
        const struct rate *own = &future->actors[0].own;
        const struct history_app *app = &future->history->apps[future->actors[0].app];
        const char *where = battery->known ? (battery->live ? "battery read now" : "battery as last stored") :
                                             "battery unknown";
        char name[64];
        double minutes = own->seconds / 60;

        snprintf(basis, FORECAST_BASIS_MAX, "%.*f %s of %s in %zu session%s; profile %s%s%s; %s%s%s%s",
                 minutes < 10 ? 1 : 0, minutes < 120 ? minutes : minutes / 60, minutes < 120 ? "minutes" : "hours",
                 util_printable(app->name, name, sizeof(name)), own->n_sessions, own->n_sessions == 1 ? "" : "s",
                 profile->device[0] ? profile->device : "unnamed", profile->method[0] ? ", by " : "", profile->method,
                 isnan(said) ? where : "charge as said",
                 battery->known && battery->battery.status == BATTERY_CHARGING ?
                         "; plugged in, answered as if unplugged now" :
                 battery->known && (battery->battery.status == BATTERY_FULL ||
                                    battery->battery.status == BATTERY_NOT_CHARGING) ?
                         "; on external power, answered as if unplugged now" :
                         "",
                 future->suspend_share > 0 ? "; standby mostly suspended" : "",
                 isnan(profile->degrees_of_freedom) ? "; no interval, as the profile has no standard errors" : "");
}

int forecast_app(const struct history *history, const char *app, double minutes,
                 const struct forecast_battery *battery, struct forecast *ret)
{
        _cleanup_(future_clear) struct future future = { 0 };
        _cleanup_(sum_clear) struct sum own = { 0 }, device = { 0 };
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
        err = future_make(history, &index, 1, &future);
        if (err == 0)
                err = sum_add(&own, &future.actors[0].own, 60 * minutes);
        if (err == 0)
                err = sum_actor(&device, &future, 0, 60 * minutes);
        if (err < 0)
                return err;
        if (charge_of(profile, battery, NAN, &charge) == 0) /* else nothing is known: percents of the profile's battery */
                charge.percent_j *= 1 - sag(&future, &charge, read_load_w(&future, battery), &device);
        forecast.energy_j = value_of(model_energy_mj(profile, &own.vector) * 1e-3, sum_sd_j(&own, profile), 1);
        forecast.percent = value_of(forecast.energy_j.value,
                                    hypot(sum_sd_j(&own, profile), charge.energy_sd * forecast.energy_j.value),
                                    charge.percent_j);
        forecast.device_percent = value_of(model_energy_mj(profile, &device.vector) * 1e-3,
                                           hypot(sum_sd_j(&device, profile),
                                                 charge.energy_sd * model_energy_mj(profile, &device.vector) * 1e-3),
                                           charge.percent_j);
        snprintf(forecast.app, sizeof(forecast.app), "%s", history->apps[index].app);
        write_basis(&future, battery, NAN, forecast.basis);
        *ret = forecast;
        return 0;
}

/* The future with so many minutes of play: what it needs, and how sure that is. */
struct balance {
        struct future *future;
        const struct budget_plan *plan;
        struct charge charge;
        double available_j;
        double available_sd_j;
        double read_w;         /* the load under which the battery was read */
};

static int balance_sum(const struct balance *balance, double minutes, struct sum *sum)
{
        int err = sum_actor(sum, balance->future, 0, 60 * minutes);

        if (err == 0)
                err = sum_standby(sum, balance->future, 60 * balance->plan->standby_minutes);
        for (size_t i = 0; i < balance->plan->n_reserves && err == 0; i++)
                err = sum_actor(sum, balance->future, i + 1, 60 * balance->plan->reserves[i].minutes);
        return err;
}

/* What is left, less @z standard deviations; J. NaN: no interval, or no memory. */
static double balance_left_j(const struct balance *balance, double minutes, double z)
{
        _cleanup_(sum_clear) struct sum sum = { 0 };
        const struct profile *profile = balance->future->history->profile;
        double left_j;

        if (balance_sum(balance, minutes, &sum) < 0)
                return NAN;
        left_j = balance->available_j * (1 - sag(balance->future, &balance->charge, balance->read_w, &sum)) - model_energy_mj(profile, &sum.vector) * 1e-3;
        return z == 0 ? left_j : left_j - z * hypot(balance->available_sd_j, sum_sd_j(&sum, profile));
}

/* The minutes at which it just suffices: 0 where it never does, NaN where it always does or nothing can be said. */
static double balance_minutes(const struct balance *balance, double z)
{
        double low = 0, high = 1, left_j = balance_left_j(balance, 0, z);

        if (isnan(left_j) || left_j <= 0)
                return isnan(left_j) ? NAN : 0;
        while (balance_left_j(balance, high, z) > 0) {
                low = high;
                high *= 2;
                if (high > MINUTES_MAX)
                        return NAN;
        }
        for (int i = 0; i < 40 && high - low > 1e-4 * high; i++) {
                double middle = (low + high) / 2;

                if (balance_left_j(balance, middle, z) > 0)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static int check_plan(const struct budget_plan *plan)
{
        if (!plan->app || plan->n_reserves > BUDGET_RESERVES_MAX ||
            !(plan->standby_minutes >= 0 && plan->standby_minutes <= MINUTES_MAX) ||
            !(plan->keep_percent >= 0 && plan->keep_percent <= 100) ||
            plan->battery_percent < 0 || plan->battery_percent > 100)
                return -EINVAL;
        for (size_t i = 0; i < plan->n_reserves; i++) {
                if (!plan->reserves[i].app || !(plan->reserves[i].minutes >= 0) ||
                    plan->reserves[i].minutes > MINUTES_MAX)
                        return -EINVAL;
        }
        return 0;
}

static int find_apps(const struct history *history, const struct budget_plan *plan, size_t *apps,
                     const char **missing)
{
        for (size_t i = 0; i <= plan->n_reserves; i++) {
                const char *app = i == 0 ? plan->app : plan->reserves[i - 1].app;
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
        _cleanup_(sum_clear) struct sum reserved = { 0 };
        struct balance balance = { .future = &future, .plan = plan };
        size_t apps[STATES_MAX];
        struct budget budget = { 0 };
        double z = model_normal(FORECAST_LEVEL), reserved_j;
        int err;

        err = check_plan(plan);
        if (err == 0)
                err = find_apps(history, plan, apps, missing);
        if (err == 0)
                err = charge_of(history->profile, battery, plan->battery_percent, &balance.charge);
        if (err == 0)
                err = future_make(history, apps, plan->n_reserves + 1, &future);
        if (err == 0)
                err = balance_sum(&balance, 0, &reserved);
        if (err < 0)
                return err;
        balance.available_j = charge_energy_j(&balance.charge, plan->keep_percent);
        balance.available_sd_j = hypot(balance.charge.percent_sd * balance.charge.percent_j,
                                       balance.charge.energy_sd * fmax(balance.available_j, 0));
        balance.read_w = read_load_w(&future, battery);
        reserved_j = model_energy_mj(history->profile, &reserved.vector) * 1e-3;
        budget.minutes.value = balance_minutes(&balance, 0);
        budget.minutes.low = balance_minutes(&balance, z);
        budget.minutes.high = balance_minutes(&balance, -z);
        budget.reserved_percent = plan->keep_percent + reserved_j / balance.charge.percent_j;
        budget.battery_percent = isnan(plan->battery_percent) ? floor(balance.charge.percent) : plan->battery_percent;
        snprintf(budget.app, sizeof(budget.app), "%s", history->apps[apps[0]].app);
        write_basis(&future, battery, plan->battery_percent, budget.basis);
        *ret = budget;
        return 0;
}
