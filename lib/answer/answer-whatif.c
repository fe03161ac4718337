/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The gain of a change, and advice, as JSON. */

#include <cjson/cJSON.h>
#include <math.h>

#include "answer.h"
#include "forecast/advice.h"

struct cJSON *answer_gain_json(const struct joulecast_gain *gain, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject(), *closed = cJSON_AddArrayToObject(json, "close");

        for (size_t i = 0; joulecast_gain_app(gain, i); i++)
                cJSON_AddItemToArray(closed, answer_text(joulecast_gain_app(gain, i)));
        cJSON_AddNumberToObject(json, "level", FORECAST_LEVEL);
        cJSON_AddItemToObject(json, "gained_minutes", answer_public_value(joulecast_gain_minutes(gain)));
        cJSON_AddItemToObject(json, "minutes", answer_public_value(joulecast_gain_before(gain)));
        cJSON_AddItemToObject(json, "changed_minutes", answer_public_value(joulecast_gain_after(gain)));
        cJSON_AddBoolToObject(json, "changes_nothing", joulecast_gain_is_nothing(gain));
        cJSON_AddNumberToObject(json, "battery_percent", joulecast_gain_battery_percent(gain));
        cJSON_AddItemToObject(json, "basis", answer_text(joulecast_gain_basis(gain)));
        answer_add_validated(json, profile);
        return json;
}

struct cJSON *answer_advice_json(const struct advice *advice, size_t n, char *const *commands,
                                 const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject(), *list, *one;

        cJSON_AddNumberToObject(json, "level", FORECAST_LEVEL);
        list = cJSON_AddArrayToObject(json, "advice");
        for (size_t i = 0; i < n; i++) {
                one = cJSON_CreateObject();
                cJSON_AddStringToObject(one, "action", advice_words[advice[i].kind]);
                cJSON_AddItemToObject(one, "app", answer_text(advice[i].app[0] ? advice[i].app : NULL));
                cJSON_AddItemToObject(one, "name", answer_text(advice[i].app[0] ? advice[i].name : NULL));
                cJSON_AddNumberToObject(one, "brightness_percent", advice[i].brightness_percent);
                cJSON_AddItemToObject(one, "gained_minutes", answer_value(&advice[i].gain.gained));
                cJSON_AddItemToObject(one, "command", answer_text(commands ? commands[i] : NULL));
                cJSON_AddItemToArray(list, one);
        }
        answer_add_validated(json, profile);
        return json;
}
