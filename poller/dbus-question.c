/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Converts calls over D-Bus to questions of the socket. sd-bus has checked that a call has the types of its
 * method and that texts are UTF-8, but not lengths, numbers of elements, or contents.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/service.h"
#include "dbus-answer.h"
#include "forecast/endure.h"
#include "forecast/forecast.h"
#include "forecast/whatif.h"
#include "model/json-print.h"
#include "util/util.h"

static int __attribute__((format(printf, 2, 3))) wrong(char *sentence, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(sentence, DBUS_SENTENCE_MAX, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

/* An empty text is the same as a missing key. */
static int add_text(struct cJSON *question, const char *key, const char *text, char *sentence)
{
        if (strlen(text) >= SERVICE_REQUEST_MAX)
                return wrong(sentence, "\"%s\" is longer than a question may be, %d bytes", key, SERVICE_REQUEST_MAX);
        if (*text)
                cJSON_AddStringToObject(question, key, text);
        return 0;
}

static int read_cost(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        const char *from, *to;
        int err = sd_bus_message_read(call, "ss", &from, &to);

        if (err >= 0)
                err = add_text(question, "from", from, sentence);
        return err < 0 ? err : add_text(question, "to", to, sentence);
}

static int read_predict(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        const char *app;
        double minutes;
        int err = sd_bus_message_read(call, "sd", &app, &minutes);

        if (err < 0)
                return err;
        cJSON_AddNumberToObject(question, "minutes", minutes);
        return add_text(question, "app", app, sentence);
}

static int add_reserve(struct cJSON *question, const char *app, double minutes, char *sentence)
{
        struct cJSON *list = cJSON_GetObjectItemCaseSensitive(question, "reserve"), *one = cJSON_CreateObject();
        int err;

        if (!list)
                list = cJSON_AddArrayToObject(question, "reserve");
        cJSON_AddNumberToObject(one, "minutes", minutes);
        err = *app ? add_text(one, "app", app, sentence) : wrong(sentence, "a reserve names no app");
        if (err == 0 && cJSON_GetArraySize(list) == BUDGET_RESERVES_MAX)
                err = wrong(sentence, "there are more than %d reserves", BUDGET_RESERVES_MAX);
        if (err < 0 || !cJSON_AddItemToArray(list, one))
                cJSON_Delete(one);
        return err;
}

static int add_option(struct cJSON *question, const char *name, double value, char *sentence)
{
        static const struct {
                const char *name, *key;
        } options[] = { { "standby_minutes", "standby" }, { "keep_percent", "keep" },
                        { "battery_percent", "battery_percent" } };

        for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
                if (strcmp(options[i].name, name) != 0)
                        continue;
                cJSON_AddNumberToObject(question, options[i].key, value);
                return 0;
        }
        return wrong(sentence, "the options are standby_minutes, keep_percent and battery_percent");
}

/* a{sd} */
static int read_numbers(sd_bus_message *call, struct cJSON *question,
                        int (*add)(struct cJSON *question, const char *name, double value, char *sentence),
                        char *sentence)
{
        const char *name;
        double value;
        int err = sd_bus_message_enter_container(call, 'a', "{sd}");

        while (err >= 0 && (err = sd_bus_message_read(call, "{sd}", &name, &value)) > 0)
                err = add(question, name, value, sentence);
        return err < 0 ? err : sd_bus_message_exit_container(call);
}

static int read_budget(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        const char *app;
        int err = sd_bus_message_read(call, "s", &app);

        if (err >= 0)
                err = add_text(question, "app", app, sentence);
        if (err >= 0)
                err = read_numbers(call, question, add_reserve, sentence);
        return err < 0 ? err : read_numbers(call, question, add_option, sentence);
}

static int add_change(struct cJSON *question, const char *name, double value, char *sentence)
{
        static const char *const names[] = { "brightness_percent", "keep_minutes", "battery_percent" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(names[i], name) != 0)
                        continue;
                cJSON_AddNumberToObject(question, name, value);
                return 0;
        }
        return wrong(sentence, "the options are brightness_percent, keep_minutes and battery_percent");
}

/* as */
static int read_texts(sd_bus_message *call, struct cJSON *question, const char *key, int most, char *sentence)
{
        struct cJSON *list = cJSON_AddArrayToObject(question, key);
        const char *text;
        int err = sd_bus_message_enter_container(call, 'a', "s");

        while (err >= 0 && (err = sd_bus_message_read(call, "s", &text)) > 0) {
                if (strlen(text) >= SERVICE_REQUEST_MAX)
                        return wrong(sentence, "\"%s\" has a text longer than %d bytes", key, SERVICE_REQUEST_MAX);
                if (cJSON_GetArraySize(list) == most)
                        return wrong(sentence, "\"%s\" has more than %d texts", key, most);
                cJSON_AddItemToArray(list, cJSON_CreateString(text));
        }
        return err < 0 ? err : sd_bus_message_exit_container(call);
}

static int read_whatif(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        int err = read_texts(call, question, "close", CHANGE_APPS_MAX, sentence);

        if (err >= 0)
                err = read_texts(call, question, "off", CHANGE_APPS_MAX, sentence);
        return err < 0 ? err : read_numbers(call, question, add_change, sentence);
}

static int add_goal(struct cJSON *question, const char *name, double value, char *sentence)
{
        if (strcmp(name, "battery_percent") != 0)
                return wrong(sentence, "the option is battery_percent");
        cJSON_AddNumberToObject(question, name, value);
        return 0;
}

static int read_endure(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        double minutes;
        const char *app;
        int err = sd_bus_message_read(call, "ds", &minutes, &app);

        if (err < 0)
                return err;
        cJSON_AddNumberToObject(question, "minutes", minutes);
        err = add_text(question, "app", app, sentence);
        if (err >= 0)
                err = read_texts(call, question, "without", ENDURE_WITHOUT_MAX, sentence);
        return err < 0 ? err : read_numbers(call, question, add_goal, sentence);
}

static int read_nothing(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        return 0;
}

static int read_call(sd_bus_message *call, struct cJSON *question, char *sentence)
{
        static const struct {
                const char *member, *ask;
                int (*read)(sd_bus_message *call, struct cJSON *question, char *sentence);
        } methods[] = {
                { "Cost", "cost", read_cost },           { "Predict", "predict", read_predict },
                { "Budget", "budget", read_budget },     { "Remaining", "budget", read_nothing },
                { "WhatIf", "whatif", read_whatif },     { "Endure", "endure", read_endure },
                { "Advise", "advise", read_nothing },
                { "Apps", "apps", read_nothing },
        };
        const char *member = sd_bus_message_get_member(call);

        for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
                if (!member || strcmp(member, methods[i].member) != 0)
                        continue;
                cJSON_AddStringToObject(question, "ask", methods[i].ask);
                return methods[i].read(call, question, sentence);
        }
        return wrong(sentence, "there is no such method");
}

int dbus_question(sd_bus_message *call, char **ret, char sentence[DBUS_SENTENCE_MAX])
{
        _cleanup_free_ char *text = NULL;
        struct cJSON *question;
        int err;

        (void)json_failed(); /* clears an earlier failure */
        question = cJSON_CreateObject();
        *sentence = '\0';
        err = read_call(call, question, sentence);
        if (err < 0) {
                cJSON_Delete(question);
                (void)json_failed();
                return err == -ENOMEM || *sentence ? err : wrong(sentence, "the arguments cannot be read");
        }
        text = json_print(question, JSON_LINE);
        if (!text)
                return -ENOMEM;
        if (strlen(text) >= SERVICE_REQUEST_MAX)
                return wrong(sentence, "a question is shorter than %d bytes", SERVICE_REQUEST_MAX);
        *ret = TAKE_PTR(text);
        return 0;
}
