/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "options.h"
#include "util/units.h"
#include "util/util.h"

void answer_add_time(struct cJSON *to, const char *key, int64_t time_ns)
{
        char buf[32];

        if (time_ns == INT64_MIN)
                cJSON_AddNullToObject(to, key);
        else
                cJSON_AddStringToObject(to, key, (values_print_time(time_ns, buf, sizeof(buf)), buf));
}

void answer_add_exact_time(struct cJSON *to, const char *key, int64_t time_ns)
{
        int64_t second_ns = (int64_t)NS_PER_S, rest_ns = time_ns % second_ns;
        char text[64];

        if (time_ns == INT64_MIN) {
                cJSON_AddNullToObject(to, key);
                return;
        }
        values_print_time(time_ns, text, 32);
        text[strcspn(text, "Z")] = '\0';
        snprintf(text + strlen(text), 32, ".%09dZ", (int)(rest_ns + (rest_ns < 0 ? second_ns : 0)));
        cJSON_AddStringToObject(to, key, text);
}

const char *answer_state(enum app_state state)
{
        return state == STATE_FOREGROUND ? N_("foreground") : N_("background");
}

struct cJSON *answer_text(const char *text)
{
        char printable[1024];

        return text ? cJSON_CreateString(util_printable(text, printable, sizeof(printable))) : cJSON_CreateNull();
}

struct cJSON *answer_value(const struct cost_value *value)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "value", value->value);
        cJSON_AddNumberToObject(json, "low", value->low);
        cJSON_AddNumberToObject(json, "high", value->high);
        return json;
}

static struct cJSON *app_json(const struct cost_app *app, double joule_part)
{
        struct cJSON *json = cJSON_CreateObject(), *components;
        const struct cost_value energy_j = cost_joules(&app->energy_j, joule_part);

        cJSON_AddItemToObject(json, "app", answer_text(app->app));
        cJSON_AddItemToObject(json, "name", answer_text(app->name));
        cJSON_AddStringToObject(json, "state", answer_state(app->state));
        cJSON_AddNumberToObject(json, "active_s", app->active_s);
        cJSON_AddItemToObject(json, "energy_j", answer_value(&energy_j));
        cJSON_AddItemToObject(json, "percent", answer_value(&app->percent));
        cJSON_AddItemToObject(json, "percent_per_minute", answer_value(&app->percent_per_minute));
        components = cJSON_AddObjectToObject(json, "components_j");
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                cJSON_AddNumberToObject(components, component_names[c], app->component_j[c]);
        return json;
}

/* Each key once and without its remark, which is for people: "gpu (not counted)" is "gpu". */
static struct cJSON *not_measured_json(const struct cost *cost)
{
        struct cJSON *list = cJSON_CreateArray(), *item;
        char key[PROFILE_KEY_MAX];

        for (size_t i = 0; i < cost->n_not_measured; i++) {
                bool seen = false;

                snprintf(key, sizeof(key), "%s", cost->not_measured[i]);
                key[strcspn(key, " ")] = '\0';
                cJSON_ArrayForEach(item, list)
                        seen = seen || strcmp(item->valuestring, key) == 0;
                if (!seen)
                        cJSON_AddItemToArray(list, answer_text(key));
        }
        return list;
}

void answer_add_known(struct cJSON *json, const char *key, int is)
{
        if (is < 0)
                cJSON_AddNullToObject(json, key);
        else
                cJSON_AddBoolToObject(json, key, is);
}

void answer_add_validated(struct cJSON *to, const struct profile *profile)
{
        answer_add_known(to, "validated", profile_validated(profile));
        cJSON_AddStringToObject(to, "profile_basis", profile_basis(profile));
}

struct cJSON *answer_cost_json(const struct cost *cost, const struct profile *profile)
{
        const struct cost_value total_j = cost_joules(&cost->total_j, cost->joule_part);
        const struct cost_value percent = cost_percent(&cost->total_j, profile);
        struct cJSON *json = cJSON_CreateObject(), *part, *list;

        cJSON_AddItemToObject(json, "profile", answer_text(profile->device[0] ? profile->device : NULL));
        answer_add_validated(json, profile);
        cJSON_AddNumberToObject(json, "level", COST_LEVEL);
        answer_add_time(json, "from", cost->from_ns);
        answer_add_time(json, "to", cost->to_ns);
        cJSON_AddNumberToObject(json, "recorded_s", cost->recorded_s);
        part = cJSON_AddObjectToObject(json, "measured");
        cJSON_AddNumberToObject(part, "energy_j", cost->measured_j.value);
        cJSON_AddItemToObject(part, "interval_j", answer_value(&cost->measured_j));
        cJSON_AddNumberToObject(part, "percent", cost->measured_percent);
        part = cJSON_AddObjectToObject(json, "total");
        cJSON_AddItemToObject(part, "energy_j", answer_value(&total_j));
        cJSON_AddItemToObject(part, "percent", answer_value(&percent));
        part = cJSON_AddObjectToObject(json, "base");
        cJSON_AddNumberToObject(part, "energy_j", cost->base_j);
        part = cJSON_AddObjectToObject(part, "parts_j");
        cJSON_AddNumberToObject(part, "idle", cost->base_idle_j);
        cJSON_AddNumberToObject(part, "wifi", cost->base_wifi_j);
        cJSON_AddNumberToObject(part, "display", cost->base_display_j);
        part = cJSON_AddObjectToObject(json, "unexplained");
        cJSON_AddNumberToObject(part, "energy_j", cost->unexplained_j.value);
        cJSON_AddItemToObject(part, "interval_j", answer_value(&cost->unexplained_j));
        cJSON_AddItemToObject(json, "not_measured", not_measured_json(cost));
        cJSON_AddNumberToObject(json, "cpu_spread_j", cost->cpu_spread_j);
        cJSON_AddNumberToObject(json, "disk_spread_j", cost->disk_spread_j);
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < cost->n_apps; i++)
                cJSON_AddItemToArray(list, app_json(&cost->apps[i], cost->joule_part));
        return json;
}

struct cJSON *answer_public_value(struct joulecast_value value)
{
        return answer_value(&(struct cost_value){ value.value, value.low, value.high });
}

struct cJSON *answer_forecast_json(const struct joulecast_forecast *forecast, const struct profile *profile,
                                   double minutes)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddItemToObject(json, "app", answer_text(joulecast_forecast_app(forecast)));
        cJSON_AddNumberToObject(json, "minutes", minutes);
        cJSON_AddNumberToObject(json, "level", 0.9);
        cJSON_AddItemToObject(json, "percent", answer_public_value(joulecast_forecast_percent(forecast)));
        cJSON_AddItemToObject(json, "energy_j", answer_public_value(joulecast_forecast_energy_j(forecast)));
        cJSON_AddItemToObject(json, "device_percent",
                              answer_public_value(joulecast_forecast_device_percent(forecast)));
        cJSON_AddItemToObject(json, "basis", answer_text(joulecast_forecast_basis(forecast)));
        answer_add_validated(json, profile);
        return json;
}

struct cJSON *answer_budget_json(const struct joulecast_budget *budget, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject();

        const char *app = joulecast_budget_app(budget);

        cJSON_AddItemToObject(json, "app", answer_text(*app ? app : NULL));
        cJSON_AddNumberToObject(json, "level", 0.9);
        cJSON_AddItemToObject(json, "minutes", answer_public_value(joulecast_budget_minutes(budget)));
        cJSON_AddNumberToObject(json, "recorded_s", budget->budget.recorded_s);
        cJSON_AddNumberToObject(json, "reserved_percent", joulecast_budget_reserved_percent(budget));
        cJSON_AddNumberToObject(json, "battery_percent", joulecast_budget_battery_percent(budget));
        answer_add_known(json, "charging", joulecast_budget_charging(budget));
        cJSON_AddItemToObject(json, "minutes_to_full", answer_public_value(joulecast_budget_minutes_to_full(budget)));
        cJSON_AddNumberToObject(json, "charge_limit_percent", joulecast_budget_charge_limit_percent(budget));
        answer_add_known(json, "held_at_limit", joulecast_budget_held_at_limit(budget));
        answer_add_known(json, "charger_too_weak", joulecast_budget_charger_too_weak(budget));
        cJSON_AddItemToObject(json, "basis", answer_text(joulecast_budget_basis(budget)));
        answer_add_validated(json, profile);
        return json;
}
