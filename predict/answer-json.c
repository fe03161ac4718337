/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "options.h"
#include "util.h"

/* cJSON prints NaN as null, which is what unknown is. */
static void add_number(struct cJSON *to, const char *key, double value)
{
        cJSON_AddNumberToObject(to, key, value);
}

static void add_time(struct cJSON *to, const char *key, int64_t time_ns)
{
        char buf[32];

        if (time_ns == INT64_MIN)
                cJSON_AddNullToObject(to, key);
        else
                cJSON_AddStringToObject(to, key, (format_time(time_ns, buf, sizeof(buf)), buf));
}

struct cJSON *answer_text(const char *text)
{
        char printable[1024];

        return text ? cJSON_CreateString(util_printable(text, printable, sizeof(printable))) : cJSON_CreateNull();
}

struct cJSON *answer_value(const struct cost_value *value)
{
        struct cJSON *json = cJSON_CreateObject();

        add_number(json, "value", value->value);
        add_number(json, "low", value->low);
        add_number(json, "high", value->high);
        return json;
}

int answer_print_json(struct cJSON *json)
{
        _cleanup_free_ char *text = cJSON_Print(json);
        int failed;

        cJSON_Delete(json);
        failed = !text || puts(text) == EOF || fflush(stdout) == EOF;
        if (failed)
                log_error(&program_log, "the answer could not be written");
        return failed ? CODE_FAILED : CODE_OK;
}

static struct cJSON *app_json(const struct cost_app *app)
{
        struct cJSON *json = cJSON_CreateObject(), *components;

        cJSON_AddItemToObject(json, "app", answer_text(app->app));
        cJSON_AddItemToObject(json, "name", answer_text(app->name));
        cJSON_AddStringToObject(json, "state", app->state == STATE_FOREGROUND ? "foreground" : "background");
        add_number(json, "active_s", app->active_s);
        cJSON_AddItemToObject(json, "energy_j", answer_value(&app->energy_j));
        cJSON_AddItemToObject(json, "percent", answer_value(&app->percent));
        cJSON_AddItemToObject(json, "percent_per_minute", answer_value(&app->percent_per_minute));
        components = cJSON_AddObjectToObject(json, "components_j");
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                add_number(components, component_names[c], app->component_j[c]);
        return json;
}

/* Plain keys for scripts: "gpu (not counted)" is "gpu", once. The remarks are for people, in the table. */
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

int answer_cost_json(const struct cost *cost, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject(), *part, *list;

        cJSON_AddItemToObject(json, "profile", answer_text(profile->device[0] ? profile->device : NULL));
        add_time(json, "from", cost->from_ns);
        add_time(json, "to", cost->to_ns);
        part = cJSON_AddObjectToObject(json, "measured");
        add_number(part, "energy_j", cost->measured_j);
        add_number(part, "percent", cost->measured_percent);
        part = cJSON_AddObjectToObject(json, "total");
        cJSON_AddItemToObject(part, "energy_j", answer_value(&cost->total_j));
        part = cJSON_AddObjectToObject(json, "base");
        add_number(part, "energy_j", cost->base_j);
        part = cJSON_AddObjectToObject(part, "parts_j");
        add_number(part, "idle", cost->base_idle_j);
        add_number(part, "wifi", cost->base_wifi_j);
        add_number(part, "display", cost->base_display_j);
        part = cJSON_AddObjectToObject(json, "unexplained");
        add_number(part, "energy_j", cost->unexplained_j);
        cJSON_AddItemToObject(json, "not_measured", not_measured_json(cost));
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < cost->n_apps; i++)
                cJSON_AddItemToArray(list, app_json(&cost->apps[i]));
        return answer_print_json(json);
}
