/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts of deleted records: written as JSON, and read back from a service's answer. */

#include <cjson/cJSON.h>
#include <errno.h>

#include "answer.h"

struct cJSON *answer_forgotten_json(const struct store_forgotten *forgotten)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddBoolToObject(json, "whole", forgotten->whole);
        cJSON_AddNumberToObject(json, "apps", (double)forgotten->apps);
        cJSON_AddNumberToObject(json, "polls", (double)forgotten->polls);
        cJSON_AddNumberToObject(json, "hours", (double)forgotten->hours);
        cJSON_AddNumberToObject(json, "days", (double)forgotten->days);
        cJSON_AddBoolToObject(json, "stayed_large", forgotten->stayed_large);
        return json;
}

static bool take_count(const struct cJSON *json, const char *key, uint64_t *ret)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

        if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= 1e15))
                return false;
        *ret = (uint64_t)value->valuedouble;
        return true;
}

int answer_forgotten_from_json(const struct cJSON *json, struct store_forgotten *ret)
{
        struct store_forgotten forgotten = {
                .whole = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "whole")),
                .stayed_large = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "stayed_large")),
        };

        if (!take_count(json, "apps", &forgotten.apps) || !take_count(json, "polls", &forgotten.polls) ||
            !take_count(json, "hours", &forgotten.hours) || !take_count(json, "days", &forgotten.days))
                return -EBADMSG;
        *ret = forgotten;
        return 0;
}
