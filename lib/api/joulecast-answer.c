/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API: cost, forecast, budget. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/suspend.h"
#include "joulecast-private.h"
#include "service.h"
#include "util/offer.h"
#include "util/util.h"

_Static_assert((int)JOULECAST_GPU == (int)COMPONENT_GPU && (int)JOULECAST_CPU == (int)COMPONENT_CPU,
               "same order");
_Static_assert(JOULECAST_APP_MAX == APP_ID_MAX, "same ids");

/* Suspended time is priced by this device's own sleeps, if there are enough, as in a forecast. */
static int cost_of_store(const struct profile *profile, struct joulecast_usage *usage, int64_t from_ns,
                         int64_t to_ns, bool intervals, struct cost **ret)
{
        __typeof__(cost_make_for) *make = intervals ? cost_make_for : cost_make_sums;
        _cleanup_(profile_freep) struct profile *learnt = NULL;
        int err = suspend_learn_past(profile, usage->store, from_ns, to_ns, &learnt);

        if (err < 0 && err != -ENODATA)
                return err;
        return make(learnt ? learnt : profile, usage->store, usage->uid, from_ns, to_ns, ret);
}

static int cost_new(const struct joulecast_profile *profile, struct joulecast_usage *usage, int64_t from_ns,
                    int64_t to_ns, bool intervals, struct joulecast_cost **ret)
{
        _cleanup_free_ struct joulecast_cost *cost = calloc(1, sizeof(*cost));
        int err;

        if (profile->context != usage->context)
                return -EINVAL;
        if (!cost)
                return -ENOMEM;
        if (from_ns >= to_ns) {
                log_error(&usage->context->log, "a span of time must end after it begins");
                return -EINVAL;
        }
        if (usage->service)
                err = service_cost(usage, profile, from_ns, to_ns, &cost->cost);
        else
                err = cost_of_store(profile->profile, usage, from_ns, to_ns, intervals, &cost->cost);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(cost);
        return 0;
}

JOULECAST_EXPORT int joulecast_cost_new(const struct joulecast_profile *profile,
                                        struct joulecast_usage *usage, int64_t from_ns, int64_t to_ns,
                                        struct joulecast_cost **ret)
{
        return cost_new(profile, usage, from_ns, to_ns, true, ret);
}

int api_cost_sums(const struct joulecast_profile *profile, struct joulecast_usage *usage, int64_t from_ns,
                  int64_t to_ns, struct joulecast_cost **ret)
{
        return cost_new(profile, usage, from_ns, to_ns, false, ret);
}

JOULECAST_EXPORT void joulecast_cost_free(struct joulecast_cost *cost)
{
        if (!cost)
                return;
        cost_free(cost->cost);
        free(cost);
}

JOULECAST_EXPORT double joulecast_cost_measured_j(const struct joulecast_cost *cost)
{
        return cost->cost->measured_j.value;
}

JOULECAST_EXPORT struct joulecast_value joulecast_cost_total_j(const struct joulecast_cost *cost)
{
        return api_value(cost_joules(&cost->cost->total_j, cost->cost->joule_part));
}

JOULECAST_EXPORT double joulecast_cost_base_j(const struct joulecast_cost *cost)
{
        return cost->cost->base_j;
}

JOULECAST_EXPORT double joulecast_cost_unexplained_j(const struct joulecast_cost *cost)
{
        return cost->cost->unexplained_j.value;
}

JOULECAST_EXPORT size_t joulecast_cost_count(const struct joulecast_cost *cost)
{
        return cost->cost->n_apps;
}

JOULECAST_EXPORT int joulecast_cost_app(const struct joulecast_cost *cost, size_t index,
                                        struct joulecast_cost_app *ret)
{
        const struct cost_app *app;

        if (index >= cost->cost->n_apps)
                return -ERANGE;
        app = &cost->cost->apps[index];
        *ret = (struct joulecast_cost_app){
                .app = app->app,
                .name = app->name,
                .state = (enum joulecast_state)app->state,
                .active_s = app->active_s,
                .energy_j = api_value(cost_joules(&app->energy_j, cost->cost->joule_part)),
                .percent = api_value(app->percent),
                .percent_per_minute = api_value(app->percent_per_minute),
        };
        memcpy(ret->component_j, app->component_j, sizeof(ret->component_j));
        return 0;
}

_Static_assert((int)JOULECAST_CAMERA == (int)COMPONENT_CAMERA, "public components are ours");

JOULECAST_EXPORT double joulecast_cost_component_j(const struct joulecast_cost *cost, size_t index,
                                                   enum joulecast_component component)
{
        if (index >= cost->cost->n_apps || (int)component < 0 || (int)component > (int)JOULECAST_CAMERA)
                return NAN;
        return cost->cost->apps[index].component_j[component];
}

JOULECAST_EXPORT int joulecast_cost_find(const struct joulecast_cost *cost, const char *app,
                                         enum joulecast_state state, struct joulecast_cost_app *ret)
{
        for (size_t i = 0; i < cost->cost->n_apps; i++) {
                const struct cost_app *candidate = &cost->cost->apps[i];

                if ((int)candidate->state == (int)state && strcmp(candidate->app, app) == 0)
                        return joulecast_cost_app(cost, i, ret);
        }
        return -ENODATA;
}

JOULECAST_EXPORT const char *joulecast_cost_not_measured(const struct joulecast_cost *cost, size_t index)
{
        return index < cost->cost->n_not_measured ? cost->cost->not_measured[index] : NULL;
}

int api_not_found(const struct joulecast_usage *usage, const struct history *history, const char *app, bool kinds)
{
        char name[APP_ID_MAX], offer[512], printable[640], words[640];
        bool several = history_find(history, app) == -EEXIST;

        util_printable(app, name, sizeof(name));
        util_printable(history_offer(history, app, offer, sizeof(offer)), printable, sizeof(printable));
        if (several)
                log_error(&usage->context->log, "several apps are called %s: %s; say which", name, printable);
        else if (*offer)
                log_error(&usage->context->log, "%s was never seen on this device; did you mean %s?", name, printable);
        else if (kinds)
                log_error(&usage->context->log, "%s is no app that was seen on this device, and no kind of change: %s",
                          name, offer_words(endure_words, ENDURE_KINDS, app, words, sizeof(words)));
        else
                log_error(&usage->context->log,
                          "%s was never seen on this device, so its power is unknown; see joulecast apps", name);
        return -ENODATA;
}

JOULECAST_EXPORT int joulecast_forecast_new(const struct joulecast_profile *profile,
                                            struct joulecast_usage *usage, const char *app, double minutes,
                                            struct joulecast_forecast **ret)
{
        _cleanup_free_ struct joulecast_forecast *forecast = calloc(1, sizeof(*forecast));
        const struct forecast_battery *battery;
        const struct history *history;
        int err;

        if (profile->context != usage->context || !*app || !(minutes >= 0 && minutes <= 1e6))
                return -EINVAL;
        if (!forecast)
                return -ENOMEM;
        if (usage->service) {
                err = service_forecast(usage, profile, app, minutes, &forecast->forecast);
        } else {
                err = api_usage_history(usage, profile, NULL, &history);
                if (!err && history_find(history, app) == -ENOENT)
                        err = api_usage_history(usage, profile, app, &history);
                if (err < 0)
                        return err;
                if (history_find(history, app) < 0)
                        return api_not_found(usage, history, app, false);
                err = api_usage_battery(usage, profile, &battery);
                if (!err)
                        err = forecast_app(history, app, minutes, battery, &forecast->forecast);
        }
        if (err < 0)
                return err;
        *ret = TAKE_PTR(forecast);
        return 0;
}

JOULECAST_EXPORT void joulecast_forecast_free(struct joulecast_forecast *forecast)
{
        free(forecast);
}

JOULECAST_EXPORT const char *joulecast_forecast_app(const struct joulecast_forecast *forecast)
{
        return forecast->forecast.app;
}

JOULECAST_EXPORT struct joulecast_value joulecast_forecast_energy_j(const struct joulecast_forecast *forecast)
{
        return api_value(forecast->forecast.energy_j);
}

JOULECAST_EXPORT struct joulecast_value joulecast_forecast_percent(const struct joulecast_forecast *forecast)
{
        return api_value(forecast->forecast.percent);
}

JOULECAST_EXPORT struct joulecast_value
joulecast_forecast_device_percent(const struct joulecast_forecast *forecast)
{
        return api_value(forecast->forecast.device_percent);
}

JOULECAST_EXPORT const char *joulecast_forecast_basis(const struct joulecast_forecast *forecast)
{
        return forecast->forecast.basis;
}

JOULECAST_EXPORT int joulecast_plan_new(const char *app, struct joulecast_plan **ret)
{
        struct joulecast_plan *plan;

        if (app && !*app)
                return -EINVAL;
        plan = calloc(1, sizeof(*plan));
        if (plan && app)
                plan->names[0] = strdup(app);
        if (!plan || (app && !plan->names[0])) {
                free(plan);
                return -ENOMEM;
        }
        plan->plan = (struct budget_plan){ .app = plan->names[0], .battery_percent = NAN };
        *ret = plan;
        return 0;
}

JOULECAST_EXPORT void joulecast_plan_free(struct joulecast_plan *plan)
{
        if (!plan)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(plan->names); i++)
                free(plan->names[i]);
        free(plan);
}

JOULECAST_EXPORT int joulecast_plan_reserve(struct joulecast_plan *plan, const char *app, double minutes)
{
        size_t n = plan->plan.n_reserves;
        char *name;

        if (!*app || !(minutes >= 0 && minutes <= 1e6))
                return -EINVAL;
        if (n == BUDGET_RESERVES_MAX)
                return -E2BIG;
        name = strdup(app);
        if (!name)
                return -ENOMEM;
        plan->names[n + 1] = name;
        plan->plan.reserves[n] = (struct budget_reserve){ .app = name, .minutes = minutes };
        plan->plan.n_reserves++;
        return 0;
}

static int set_number(double *to, double value, double max)
{
        if (!(value >= 0 && value <= max))
                return -EINVAL;
        *to = value;
        return 0;
}

JOULECAST_EXPORT int joulecast_plan_standby(struct joulecast_plan *plan, double minutes)
{
        return set_number(&plan->plan.standby_minutes, minutes, 1e6);
}

JOULECAST_EXPORT int joulecast_plan_keep(struct joulecast_plan *plan, double percent)
{
        return set_number(&plan->plan.keep_percent, percent, 100);
}

JOULECAST_EXPORT int joulecast_plan_battery(struct joulecast_plan *plan, double percent)
{
        return set_number(&plan->plan.battery_percent, percent, 100);
}

static int budget_by(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *seek,
                     const struct budget_plan *plan, const struct history **history, const char **missing,
                     struct budget *ret)
{
        const struct forecast_battery *battery;
        int err = api_usage_history(usage, profile, seek, history);

        *missing = NULL;
        if (!err)
                err = api_usage_battery(usage, profile, &battery);
        return err ? err : forecast_budget(*history, plan, battery, missing, ret);
}

JOULECAST_EXPORT int joulecast_budget_new(const struct joulecast_profile *profile,
                                          struct joulecast_usage *usage, const struct joulecast_plan *plan,
                                          struct joulecast_budget **ret)
{
        _cleanup_free_ struct joulecast_budget *budget = calloc(1, sizeof(*budget));
        const struct history *history = NULL;
        const char *missing = NULL;
        int err;

        if (profile->context != usage->context)
                return -EINVAL;
        if (!budget)
                return -ENOMEM;
        if (usage->service)
                err = service_budget(usage, profile, &plan->plan, &budget->budget);
        else
                err = budget_by(usage, profile, NULL, &plan->plan, &history, &missing, &budget->budget);
        if (err == -ENODATA && missing && history_find(history, missing) == -ENOENT)
                err = budget_by(usage, profile, missing, &plan->plan, &history, &missing, &budget->budget);
        if (err == -ENODATA && missing)
                return api_not_found(usage, history, missing, false);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(budget);
        return 0;
}

JOULECAST_EXPORT void joulecast_budget_free(struct joulecast_budget *budget)
{
        free(budget);
}

JOULECAST_EXPORT const char *joulecast_budget_app(const struct joulecast_budget *budget)
{
        return budget->budget.app;
}

JOULECAST_EXPORT struct joulecast_value joulecast_budget_minutes(const struct joulecast_budget *budget)
{
        return api_value(budget->budget.minutes);
}

JOULECAST_EXPORT double joulecast_budget_reserved_percent(const struct joulecast_budget *budget)
{
        return budget->budget.reserved_percent;
}

JOULECAST_EXPORT double joulecast_budget_battery_percent(const struct joulecast_budget *budget)
{
        return budget->budget.battery_percent;
}

JOULECAST_EXPORT int joulecast_budget_charging(const struct joulecast_budget *budget)
{
        return budget->budget.charging.charging;
}

JOULECAST_EXPORT struct joulecast_value joulecast_budget_minutes_to_full(const struct joulecast_budget *budget)
{
        return api_value(budget->budget.charging.minutes_to_full);
}

JOULECAST_EXPORT double joulecast_budget_charge_limit_percent(const struct joulecast_budget *budget)
{
        return budget->budget.charging.limit_percent;
}

JOULECAST_EXPORT int joulecast_budget_held_at_limit(const struct joulecast_budget *budget)
{
        return budget->budget.charging.held;
}

JOULECAST_EXPORT int joulecast_budget_charger_too_weak(const struct joulecast_budget *budget)
{
        return budget->budget.charging.too_weak;
}

JOULECAST_EXPORT const char *joulecast_budget_basis(const struct joulecast_budget *budget)
{
        return budget->budget.basis;
}
