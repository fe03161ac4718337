/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The fewest changes that suffice, as JSON. */

#include <cjson/cJSON.h>
#include <math.h>

#include "answer.h"
#include "forecast/endure.h"

static struct cJSON *change_json(const struct endure_change *change)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "action", endure_words[change->kind]);
        cJSON_AddItemToObject(json, "app", answer_text(*change->app ? change->app : NULL));
        cJSON_AddItemToObject(json, "name", answer_text(*change->app ? change->name : NULL));
        cJSON_AddNumberToObject(json, "brightness_percent", change->brightness_percent);
        cJSON_AddItemToObject(json, "gained_minutes", answer_value(&change->gained));
        return json;
}

struct cJSON *answer_endure_json(const struct endurance *endurance, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject(), *list;

        cJSON_AddNumberToObject(json, "level", FORECAST_LEVEL);
        cJSON_AddNumberToObject(json, "goal_minutes", endurance->goal_minutes);
        cJSON_AddItemToObject(json, "app", answer_text(*endurance->app ? endurance->app : NULL));
        if (isnan(endurance->short_minutes))
                cJSON_AddNullToObject(json, "suffices");
        else
                cJSON_AddBoolToObject(json, "suffices", endurance->short_minutes == 0);
        cJSON_AddNumberToObject(json, "short_minutes", endurance->short_minutes);
        cJSON_AddItemToObject(json, "minutes", answer_value(&endurance->before));
        cJSON_AddItemToObject(json, "changed_minutes", answer_value(&endurance->after));
        list = cJSON_AddArrayToObject(json, "changes");
        for (size_t i = 0; i < endurance->n; i++)
                cJSON_AddItemToArray(list, change_json(&endurance->list[i]));
        cJSON_AddNumberToObject(json, "battery_percent", endurance->battery_percent);
        cJSON_AddItemToObject(json, "basis", answer_text(endurance->basis));
        answer_add_validated(json, profile);
        return json;
}
