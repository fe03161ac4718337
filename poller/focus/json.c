/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

int64_t json_number(const struct cJSON *object, const char *key)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

        /* cJSON keeps a double, which is exact below 2^53. */
        return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < 0x1p53
                       ? (int64_t)value->valuedouble : -1;
}

pid_t json_pid(const struct cJSON *object)
{
        int64_t pid = json_number(object, "pid");

        return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

const char *json_text(const struct cJSON *object, const char *key)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

        return cJSON_IsString(value) ? value->valuestring : "";
}
