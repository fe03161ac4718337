/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses a question, which is untrusted. Unknown keys are errors. */

#include "question.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/json-print.h"
#include "answer/moment.h"
#include "util/util.h"
#include "answer/values.h"

struct reading {
        struct question *question;
        char *error;
};

static int __attribute__((format(printf, 2, 3))) wrong(struct reading *reading, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(reading->error, QUESTION_ERROR_MAX, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

static int read_ask(struct reading *reading, const char *key, const struct cJSON *value)
{
        static const char *const asks[] = {
                [ASK_ADVISE] = "advise", [ASK_APPS] = "apps", [ASK_BUDGET] = "budget", [ASK_COST] = "cost",
                [ASK_ENDURE] = "endure", [ASK_FORGET] = "forget", [ASK_LIVE] = "live",
                [ASK_PREDICT] = "predict", [ASK_SERVICE] = "service", [ASK_SINCE] = "since",
                [ASK_TIMELINE] = "timeline", [ASK_USAGE] = "usage",
                [ASK_WHATIF] = "whatif",
        };

        for (size_t i = ASK_ADVISE; i < ARRAY_SIZE(asks) && cJSON_IsString(value); i++) {
                if (strcmp(value->valuestring, asks[i]) == 0) {
                        reading->question->ask = (enum ask)i;
                        return 0;
                }
        }
        return wrong(reading, "\"ask\" is \"advise\", \"apps\", \"budget\", \"cost\", \"endure\", \"forget\", "
                              "\"live\", \"predict\", "
                              "\"service\", \"since\", \"timeline\", \"usage\" or \"whatif\"");
}

static int read_from(struct reading *reading, const char *key, const struct cJSON *value)
{
        if (!cJSON_IsString(value) || moment_parse(value->valuestring, values_now_ns(), &reading->question->from) < 0)
                return wrong(reading, "\"from\" is a time, as in \"2026-11-20T08:00:00Z\", \"24h\" or \"full\"");
        return 0;
}

static int read_to(struct reading *reading, const char *key, const struct cJSON *value)
{
        if (!cJSON_IsString(value) ||
            values_parse_time(value->valuestring, values_now_ns(), &reading->question->to_ns) < 0)
                return wrong(reading, "\"to\" is a time, as in \"2026-11-20T08:00:00Z\" or \"24h\"");
        return 0;
}

static int read_text(struct reading *reading, const char *key, const struct cJSON *value)
{
        char **to = strcmp(key, "app") == 0 ? &reading->question->app : &reading->question->profile;
        char *copy;

        if (!cJSON_IsString(value) || !value->valuestring[0])
                return wrong(reading, "\"%s\" is a text", key);
        copy = strdup(value->valuestring);
        if (!copy)
                return -ENOMEM;
        free(*to);
        *to = copy;
        return 0;
}

static bool take_number(const struct cJSON *value, double max, double *to)
{
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= max))
                return false;
        *to = value->valuedouble;
        return true;
}

static int read_minutes(struct reading *reading, const char *key, const struct cJSON *value)
{
        struct question *question = reading->question;
        double *to = strcmp(key, "minutes") == 0        ? &question->minutes :
                     strcmp(key, "keep_minutes") == 0 ? &question->changes.keep_minutes :
                                                        &question->plan.standby_minutes;

        return take_number(value, 1e6, to) ? 0 : wrong(reading, "\"%s\" is a number of minutes, 0 to 1e6", key);
}

static int read_after(struct reading *reading, const char *key, const struct cJSON *value)
{
        double number;

        if (!take_number(value, 1e15, &number))
                return wrong(reading, "\"after\" is the \"number\" of a live answer");
        reading->question->after = (uint64_t)number;
        return 0;
}

static int read_percent(struct reading *reading, const char *key, const struct cJSON *value)
{
        struct question *question = reading->question;
        double *to = strcmp(key, "keep") == 0                 ? &question->plan.keep_percent :
                     strcmp(key, "brightness_percent") == 0 ? &question->changes.brightness_percent :
                                                              &question->plan.battery_percent;

        return take_number(value, 100, to) ? 0 : wrong(reading, "\"%s\" is a number from 0 to 100", key);
}

static int read_reserve(struct reading *reading, const char *key, const struct cJSON *value)
{
        struct budget_plan *plan = &reading->question->plan;
        const struct cJSON *one;

        if (!cJSON_IsArray(value))
                return wrong(reading, "\"reserve\" is a list of {\"app\", \"minutes\"}");
        cJSON_ArrayForEach(one, value) {
                const struct cJSON *app = cJSON_GetObjectItemCaseSensitive(one, "app");
                const struct cJSON *minutes = cJSON_GetObjectItemCaseSensitive(one, "minutes");
                struct budget_reserve *reserve = &plan->reserves[plan->n_reserves];

                if (plan->n_reserves == BUDGET_RESERVES_MAX)
                        return wrong(reading, "\"reserve\" has more than %d apps", BUDGET_RESERVES_MAX);
                if (!cJSON_IsString(app) || !take_number(minutes, 1e6, &reserve->minutes))
                        return wrong(reading, "\"reserve\" is a list of {\"app\", \"minutes\"}");
                reserve->app = strdup(app->valuestring);
                if (!reserve->app)
                        return -ENOMEM;
                plan->n_reserves++;
        }
        return 0;
}

static int read_close(struct reading *reading, const char *key, const struct cJSON *value)
{
        struct changes *changes = &reading->question->changes;
        const struct cJSON *one;

        if (!cJSON_IsArray(value))
                return wrong(reading, "\"close\" is a list of apps");
        cJSON_ArrayForEach(one, value) {
                if (!cJSON_IsString(one) || !one->valuestring[0])
                        return wrong(reading, "\"close\" is a list of apps");
                if (changes->n_close == CHANGE_APPS_MAX)
                        return wrong(reading, "\"close\" has more than %d apps", CHANGE_APPS_MAX);
                changes->close[changes->n_close] = strdup(one->valuestring);
                if (!changes->close[changes->n_close])
                        return -ENOMEM;
                changes->n_close++;
        }
        return 0;
}

static int read_off(struct reading *reading, const char *key, const struct cJSON *value)
{
        const struct cJSON *one;

        if (!cJSON_IsArray(value))
                return wrong(reading, "\"off\" is a list of \"display\", \"wifi\", \"cellular\", \"gps\" and"
                                      " \"audio\"");
        cJSON_ArrayForEach(one, value) {
                int c = cJSON_IsString(one) ? component_find(one->valuestring, strlen(one->valuestring)) : -EINVAL;

                if (c < 0 || !(CHANGE_OFF_ALL & UINT32_C(1) << c))
                        return wrong(reading, "\"off\" is a list of \"display\", \"wifi\", \"cellular\", \"gps\" and"
                                              " \"audio\"");
                reading->question->changes.off |= UINT32_C(1) << c;
        }
        return 0;
}

static int read_without(struct reading *reading, const char *key, const struct cJSON *value)
{
        struct endure_goal *goal = &reading->question->goal;
        const struct cJSON *one;

        if (!cJSON_IsArray(value))
                return wrong(reading, "\"without\" is a list of actions and apps");
        cJSON_ArrayForEach(one, value) {
                if (!cJSON_IsString(one) || !one->valuestring[0])
                        return wrong(reading, "\"without\" is a list of actions and apps");
                if (goal->n_without == ENDURE_WITHOUT_MAX)
                        return wrong(reading, "\"without\" has more than %d texts", ENDURE_WITHOUT_MAX);
                goal->without[goal->n_without] = strdup(one->valuestring);
                if (!goal->without[goal->n_without])
                        return -ENOMEM;
                goal->n_without++;
        }
        return 0;
}

static int read_key(struct reading *reading, const struct cJSON *value)
{
        static const struct {
                const char *key;
                int (*read)(struct reading *reading, const char *key, const struct cJSON *value);
        } keys[] = {
                { "ask", read_ask },         { "from", read_from },    { "to", read_to },
                { "app", read_text },        { "profile", read_text }, { "minutes", read_minutes },
                { "standby", read_minutes }, { "keep", read_percent }, { "battery_percent", read_percent },
                { "reserve", read_reserve }, { "close", read_close },  { "off", read_off },
                { "after", read_after },     { "brightness_percent", read_percent }, { "keep_minutes", read_minutes },
                { "without", read_without },
        };
        char printable[64];

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                if (strcmp(value->string, keys[i].key) == 0)
                        return keys[i].read(reading, keys[i].key, value);
        }
        return wrong(reading, "a question has no key \"%s\"",
                     util_printable(value->string, printable, sizeof(printable)));
}

static bool has_change(const struct changes *changes)
{
        return changes->n_close > 0 || changes->off || !isnan(changes->brightness_percent);
}

static int check(struct reading *reading)
{
        const struct question *question = reading->question;

        if (question->ask == ASK_NOTHING)
                return wrong(reading, "\"ask\" is missing, as in {\"ask\": \"cost\"}");
        if (question->ask == ASK_PREDICT && !question->app)
                return wrong(reading, "\"app\" is missing");
        if (question->ask == ASK_PREDICT && isnan(question->minutes))
                return wrong(reading, "\"minutes\" is missing");
        if (question->ask == ASK_ENDURE && !(question->minutes > 0))
                return wrong(reading, "\"minutes\" is missing, or 0");
        if (question->ask == ASK_WHATIF && !has_change(&question->changes))
                return wrong(reading, "\"close\", \"off\" or \"brightness_percent\" is missing");
        if (!question->from.word && question->from.ns >= question->to_ns)
                return wrong(reading, "\"from\" is not before \"to\"");
        return 0;
}

static int read_question(struct reading *reading, const struct cJSON *json)
{
        const struct cJSON *value;
        int err = 0;

        if (!cJSON_IsObject(json))
                return wrong(reading, "a question is one line of JSON: {\"ask\": \"cost\"}");
        cJSON_ArrayForEach(value, json) {
                err = read_key(reading, value);
                if (err < 0)
                        return err;
        }
        return check(reading);
}

int question_parse(const char *text, size_t length, struct question *ret, char error[QUESTION_ERROR_MAX])
{
        struct question question = { .from.ns = INT64_MIN, .to_ns = INT64_MAX, .minutes = NAN,
                                     .plan.battery_percent = NAN, .changes = CHANGES_NONE, .goal = ENDURE_GOAL_NONE };
        struct reading reading = { .question = &question, .error = error };
        const char *end = NULL;
        struct cJSON *json = cJSON_ParseWithLengthOpts(text, length, &end, 0);
        int err;

        while (json && end < text + length && strchr(" \t\r\n", *end) && *end)
                end++;
        if (json_failed())
                err = -ENOMEM;
        else if (json && end < text + length)
                err = wrong(&reading, "there is more than one JSON value in the line");
        else
                err = read_question(&reading, json);
        cJSON_Delete(json);
        question.plan.app = question.app;
        question.changes.battery_percent = question.goal.battery_percent = question.plan.battery_percent;
        question.goal.app = question.app;
        question.goal.minutes = question.minutes;
        if (err < 0)
                question_clear(&question);
        else
                *ret = question;
        return err;
}

void question_clear(struct question *question)
{
        for (size_t i = 0; i < question->plan.n_reserves; i++)
                free((char *)question->plan.reserves[i].app);
        for (size_t i = 0; i < question->changes.n_close; i++)
                free((char *)question->changes.close[i]);
        for (size_t i = 0; i < question->goal.n_without; i++)
                free((char *)question->goal.without[i]);
        free(question->app);
        free(question->profile);
        *question = (struct question){ 0 };
}
