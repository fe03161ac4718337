/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts answers of the socket to D-Bus types. */

#include "dbus-answer.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define DEPTH_MAX 8 /* D-Bus has a limit of its own, which would fail the whole answer */

static void json_freep(struct cJSON **json)
{
        cJSON_Delete(*json);
}

static double number_of(const struct cJSON *json, const char *key)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

        return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static bool is_interval(const struct cJSON *json)
{
        return cJSON_IsObject(json) && cJSON_GetArraySize(json) == 3 && cJSON_HasObjectItem(json, "value") &&
               cJSON_HasObjectItem(json, "low") && cJSON_HasObjectItem(json, "high");
}

/*
 * An empty list has no element that shows its type: lists of texts are named here, all others hold objects.
 */
static bool holds_texts(const struct cJSON *list)
{
        static const char *const keys[] = { "close", "not_measured" };
        bool texts = list->child && cJSON_IsString(list->child);

        for (size_t i = 0; i < ARRAY_SIZE(keys) && !list->child && list->string; i++)
                texts = texts || strcmp(list->string, keys[i]) == 0;
        return texts;
}

static int append_object(sd_bus_message *to, const struct cJSON *json, unsigned depth);

static int append_list(sd_bus_message *to, const struct cJSON *list, unsigned depth)
{
        bool texts = holds_texts(list);
        const struct cJSON *one;
        int err = sd_bus_message_open_container(to, 'v', texts ? "as" : "aa{sv}");

        if (err >= 0)
                err = sd_bus_message_open_container(to, 'a', texts ? "s" : "a{sv}");
        cJSON_ArrayForEach(one, list) {
                if (err >= 0 && texts && cJSON_IsString(one))
                        err = sd_bus_message_append(to, "s", one->valuestring);
                else if (err >= 0 && !texts && cJSON_IsObject(one))
                        err = append_object(to, one, depth + 1);
        }
        if (err >= 0)
                err = sd_bus_message_close_container(to);
        return err < 0 ? err : sd_bus_message_close_container(to);
}

static int append_variant(sd_bus_message *to, const struct cJSON *value, unsigned depth)
{
        int err;

        if (cJSON_IsNumber(value))
                return sd_bus_message_append(to, "v", "d", value->valuedouble);
        if (cJSON_IsBool(value))
                return sd_bus_message_append(to, "v", "b", (int)cJSON_IsTrue(value));
        if (cJSON_IsString(value))
                return sd_bus_message_append(to, "v", "s", value->valuestring);
        if (is_interval(value))
                return sd_bus_message_append(to, "v", "(ddd)", number_of(value, "value"), number_of(value, "low"),
                                             number_of(value, "high"));
        if (cJSON_IsArray(value))
                return append_list(to, value, depth);
        err = sd_bus_message_open_container(to, 'v', "a{sv}");
        if (err >= 0)
                err = append_object(to, value, depth + 1);
        return err < 0 ? err : sd_bus_message_close_container(to);
}

static int append_object(sd_bus_message *to, const struct cJSON *json, unsigned depth)
{
        const struct cJSON *value;
        int err = depth > DEPTH_MAX ? -EBADMSG : sd_bus_message_open_container(to, 'a', "{sv}");

        cJSON_ArrayForEach(value, json) {
                if (err < 0 || cJSON_IsNull(value))
                        continue;
                err = sd_bus_message_open_container(to, 'e', "sv");
                if (err >= 0)
                        err = sd_bus_message_append(to, "s", value->string);
                if (err >= 0)
                        err = append_variant(to, value, depth);
                if (err >= 0)
                        err = sd_bus_message_close_container(to);
        }
        return err < 0 ? err : sd_bus_message_close_container(to);
}

int dbus_answer_append(sd_bus_message *to, const char *json)
{
        _cleanup_(json_freep) struct cJSON *answer = cJSON_Parse(json);

        if (!cJSON_IsObject(answer))
                return -EBADMSG;
        return append_object(to, answer, 0);
}

int dbus_answer_refuse(sd_bus_message *call, const char *json)
{
        _cleanup_(json_freep) struct cJSON *answer = cJSON_Parse(json);
        const struct cJSON *name = cJSON_GetObjectItemCaseSensitive(answer, "error");
        const struct cJSON *sentence = cJSON_GetObjectItemCaseSensitive(answer, "sentence");
        char full[64];
        int err;

        if (!cJSON_IsString(name))
                return 0;
        snprintf(full, sizeof(full), DBUS_ERROR "%s", name->valuestring);
        err = sd_bus_reply_method_errorf(call, full, "%s", cJSON_IsString(sentence) ? sentence->valuestring :
                                         name->valuestring);
        return err < 0 ? err : 1;
}
