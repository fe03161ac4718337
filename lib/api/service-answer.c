/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Questions of the public API to the service, and its answers. */

#include <cjson/cJSON.h>
#include <errno.h>

#include "answer-fields.h"
#include "request.h"
#include "util/util.h"

static int ask_cost(struct joulecast_usage *usage, struct request *request, struct cost **ret)
{
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        int err = request_ask(request, usage, &json);

        return err ? err : service_check(usage, answer_fields_read_cost(json, ret));
}

int service_cost(struct joulecast_usage *usage, const struct joulecast_profile *profile, int64_t from_ns,
                 int64_t to_ns, struct cost **ret)
{
        struct request request;

        request_begin(&request, "cost", profile);
        request_time(&request, "from", from_ns);
        request_time(&request, "to", to_ns);
        return ask_cost(usage, &request, ret);
}

int service_forecast(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *app,
                     double minutes, struct forecast *ret)
{
        struct request request;

        request_begin(&request, "predict", profile);
        request_text(&request, "app", app);
        request_number(&request, "minutes", minutes);
        return request_read(&request, usage, forecast_fields, ret);
}

static void add_reserves(struct request *request, const struct budget_plan *plan)
{
        struct cJSON *list = plan->n_reserves > 0 ? cJSON_AddArrayToObject(request->json, "reserve") : NULL;

        for (size_t i = 0; i < plan->n_reserves; i++) {
                struct cJSON *one = cJSON_CreateObject();

                if (!cJSON_AddItemToArray(list, one)) {
                        cJSON_Delete(one);
                        request->err = -ENOMEM;
                        return;
                }
                if (!cJSON_AddStringToObject(one, "app", plan->reserves[i].app) ||
                    !cJSON_AddNumberToObject(one, "minutes", plan->reserves[i].minutes))
                        request->err = -ENOMEM;
        }
}

int service_budget(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct budget_plan *plan, struct budget *ret)
{
        struct request request;

        request_begin(&request, "budget", profile);
        request_text(&request, "app", plan->app);
        add_reserves(&request, plan);
        request_number(&request, "standby", plan->standby_minutes);
        request_number(&request, "keep", plan->keep_percent);
        request_number(&request, "battery_percent", plan->battery_percent);
        return request_read(&request, usage, budget_fields, ret);
}

int service_endure(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct endure_goal *goal, struct endurance *ret)
{
        struct request request;

        request_begin(&request, "endure", profile);
        request_number(&request, "minutes", goal->minutes);
        request_text(&request, "app", goal->app);
        request_texts(&request, "without", goal->without, goal->n_without);
        request_number(&request, "battery_percent", goal->battery_percent);
        return request_read(&request, usage, endurance_fields, ret);
}

int service_gain(struct joulecast_usage *usage, const struct joulecast_profile *profile, const struct changes *changes,
                 struct gain *ret)
{
        const char *off[COMPONENT_COUNT];
        struct request request;
        size_t n_off = 0;

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (changes->off & UINT32_C(1) << c)
                        off[n_off++] = component_names[c];
        request_begin(&request, "whatif", profile);
        request_texts(&request, "close", changes->close, changes->n_close);
        request_texts(&request, "off", off, n_off);
        request_number(&request, "brightness_percent", changes->brightness_percent);
        request_number(&request, "keep_minutes", changes->keep_minutes);
        request_number(&request, "battery_percent", changes->battery_percent);
        return request_read(&request, usage, gain_fields, ret);
}

int service_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile, struct advice_list *ret)
{
        struct request request;

        request_begin(&request, "advise", profile);
        return request_read(&request, usage, advice_fields, ret);
}

static int ask_apps(struct joulecast_usage *usage, struct answer_apps *ret)
{
        struct request request;

        request_begin(&request, "apps", NULL);
        return request_read(&request, usage, apps_fields, ret);
}

int service_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns)
{
        struct answer_apps apps;
        int err = ask_apps(usage, &apps);

        if (err)
                return err;
        *from_ns = apps.from_ns;
        *to_ns = apps.to_ns;
        return 0;
}

int service_since(struct joulecast_usage *usage, enum joulecast_event event, int64_t *time_ns)
{
        struct answer_since since;
        struct request request;
        int err;

        request_begin(&request, "since", NULL);
        err = request_read(&request, usage, since_fields, &since);
        if (err)
                return err;
        *time_ns = since.times_ns[event];
        return *time_ns == INT64_MIN ? -ENODATA : 0;
}

int service_apps(struct joulecast_usage *usage, struct cost **ret)
{
        struct request request;

        request_begin(&request, "apps", NULL);
        return ask_cost(usage, &request, ret);
}

int service_battery(struct joulecast_usage *usage, double *percent, int *plugged)
{
        struct answer_apps apps;
        int err = ask_apps(usage, &apps);

        if (err)
                return err;
        if (!(apps.percent >= 0 && apps.percent <= 100))
                return -ENODEV;
        *percent = apps.percent;
        if (plugged)
                *plugged = apps.plugged;
        return 0;
}
