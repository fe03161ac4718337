/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Usage of the last seconds as JSON, and back: the service answers with it, and `joulecast top` reads the answer. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "util/util.h"

static void add_battery(struct cJSON *json, const struct battery *battery)
{
        const struct forecast_battery known = { .known = battery->have != 0, .battery = *battery };
        struct cJSON *part = cJSON_AddObjectToObject(json, "battery");
        double percent = NAN;

        (void)api_usage_percent(&known, &percent);
        cJSON_AddNumberToObject(part, "percent", percent);
        if (battery->status == BATTERY_UNKNOWN)
                cJSON_AddNullToObject(part, "plugged");
        else
                cJSON_AddBoolToObject(part, "plugged", battery->status != BATTERY_DISCHARGING);
}

struct cJSON *answer_live_json(const struct answer_live *live, const struct cost *cost, const struct profile *profile)
{
        struct cJSON *json = answer_cost_json(cost, profile);

        cJSON_AddNumberToObject(json, "number", (double)live->number);
        cJSON_AddNumberToObject(json, "suspend_s", live->suspend_s);
        add_battery(json, &live->battery);
        return json;
}

static const struct cJSON *item(const struct cJSON *json, const char *key)
{
        return cJSON_GetObjectItemCaseSensitive(json, key);
}

/* NaN: the key is missing, or its value is null or not a finite number. */
static double number(const struct cJSON *json, const char *key)
{
        const struct cJSON *value = item(json, key);

        return cJSON_IsNumber(value) && isfinite(value->valuedouble) ? value->valuedouble : NAN;
}

static struct cost_value value(const struct cJSON *json, const char *key)
{
        const struct cJSON *part = item(json, key);

        return (struct cost_value){ number(part, "value"), number(part, "low"), number(part, "high") };
}

static int read_app(const struct cJSON *json, struct cost_app *ret)
{
        const char *app = cJSON_GetStringValue(item(json, "app")), *name = cJSON_GetStringValue(item(json, "name")),
                   *state = cJSON_GetStringValue(item(json, "state"));

        if (!app || !*app || !name || !state)
                return -EBADMSG;
        util_printable(app, ret->app, sizeof(ret->app));
        ret->name = strdup(name);
        if (!ret->name)
                return -ENOMEM;
        ret->state = strcmp(state, answer_state(STATE_FOREGROUND)) == 0 ? STATE_FOREGROUND : STATE_BACKGROUND;
        ret->active_s = number(json, "active_s");
        ret->energy_j = value(json, "energy_j");
        ret->percent = value(json, "percent");
        ret->percent_per_minute = value(json, "percent_per_minute");
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                ret->component_j[c] = number(item(json, "components_j"), component_names[c]);
        return 0;
}

static int read_apps(const struct cJSON *json, struct cost *cost)
{
        const struct cJSON *apps = item(json, "apps"), *app;
        int err = 0;

        if (!cJSON_IsArray(apps))
                return -EBADMSG;
        cost->apps = calloc((size_t)cJSON_GetArraySize(apps) + 1, sizeof(*cost->apps));
        if (!cost->apps)
                return -ENOMEM;
        cJSON_ArrayForEach(app, apps)
        {
                if (!err)
                        err = read_app(app, &cost->apps[cost->n_apps++]);
        }
        return err;
}

static void read_about(const struct cJSON *json, struct answer_live *ret)
{
        const struct cJSON *battery = item(json, "battery"), *plugged = item(battery, "plugged");
        double percent = number(battery, "percent"), last = number(json, "number");

        *ret = (struct answer_live){ .number = last >= 1 && last < 1e15 ? (uint64_t)last : 0,
                                     .suspend_s = number(json, "suspend_s") };
        if (percent >= 0 && percent <= 100) {
                ret->battery.have = BATTERY_CAPACITY;
                ret->battery.capacity_percent = (uint32_t)percent;
        }
        if (cJSON_IsBool(plugged))
                ret->battery.status = cJSON_IsTrue(plugged) ? BATTERY_NOT_CHARGING : BATTERY_DISCHARGING;
}

int answer_live_from_json(const struct cJSON *json, struct answer_live *live, struct cost **ret)
{
        _cleanup_(cost_freep) struct cost *cost = calloc(1, sizeof(*cost));
        const struct cJSON *base = item(json, "base");
        int err;

        if (!cost)
                return -ENOMEM;
        cost->from_ns = cost->to_ns = INT64_MIN;
        cost->recorded_s = number(json, "recorded_s");
        cost->measured_j = value(item(json, "measured"), "interval_j");
        cost->measured_percent = number(item(json, "measured"), "percent");
        cost->total_j = value(item(json, "total"), "energy_j");
        cost->base_j = number(base, "energy_j");
        cost->base_idle_j = number(item(base, "parts_j"), "idle");
        cost->base_wifi_j = number(item(base, "parts_j"), "wifi");
        cost->base_display_j = number(item(base, "parts_j"), "display");
        cost->unexplained_j = value(item(json, "unexplained"), "interval_j");
        err = read_apps(json, cost);
        if (err)
                return err;
        read_about(json, live);
        *ret = TAKE_PTR(cost);
        return 0;
}
