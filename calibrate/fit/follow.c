/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

int follow_new(struct follow **ret)
{
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

static void follow_reset(struct follow *follow)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                usage_clear(&follow->modes[i].usage);
                free(follow->modes[i].x);
        }
        for (size_t i = 0; i < follow->n; i++)
                observation_clear(&follow->observations[i]);
        free(follow->modes);
        free(follow->observations);
        portfolio_clear(&follow->portfolio);
        columns_clear(&follow->columns);
        columns_device_clear(&follow->device);
        *follow = (struct follow){ 0 };
}

void follow_free(struct follow *follow)
{
        if (!follow)
                return;
        follow_reset(follow);
        free(follow);
}

static struct cJSON *failure(const char *sentence)
{
        cJSON *answer = cJSON_CreateObject();

        cJSON_AddStringToObject(answer, "error", sentence);
        return answer;
}

static const char *text(const cJSON *object, const char *name)
{
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* NaN if it is missing or null. */
static double number(const cJSON *object, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

        return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int add_mode(struct follow *follow, const cJSON *json)
{
        struct follow_mode *grown = reallocarray(follow->modes, follow->n_modes + 1, sizeof(*grown)), *mode;
        const char *name = text(json, "name");
        const cJSON *usage = cJSON_GetObjectItemCaseSensitive(json, "usage");

        if (!grown)
                return -ENOMEM;
        follow->modes = grown;
        if (!name || strlen(name) >= MODE_NAME_MAX || !cJSON_IsObject(usage))
                return -EINVAL;
        mode = &grown[follow->n_modes];
        *mode = (struct follow_mode){ 0 };
        snprintf(mode->name, sizeof(mode->name), "%s", name);
        mode->held_back = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "held_back"));
        if (usage_from_json(usage, &mode->usage) < 0)
                return -EINVAL;
        follow->n_modes++;
        return mode->usage.time_ns > 0 ? 0 : -EINVAL;
}

static int make_rows_of_modes(struct follow *follow)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                struct follow_mode *mode = &follow->modes[i];
                double seconds = (double)mode->usage.time_ns / NS_PER_S;

                mode->x = calloc(follow->columns.n, sizeof(*mode->x));
                if (!mode->x)
                        return -ENOMEM;
                columns_row(&follow->columns, &mode->usage, mode->x);
                for (size_t j = 0; j < follow->columns.n; j++)
                        mode->x[j] /= seconds;
        }
        return 0;
}

static int make_columns(struct follow *follow, const char *database)
{
        _cleanup_free_ const struct usage **usages = calloc(follow->n_modes + 1, sizeof(*usages));
        int err;

        if (!usages)
                return -ENOMEM;
        for (size_t i = 0; i < follow->n_modes; i++)
                usages[i] = &follow->modes[i].usage;
        err = columns_make(&follow->device, usages, follow->n_modes, &follow->columns);
        if (!err)
                err = make_rows_of_modes(follow);
        if (!err)
                err = portfolio_make(&follow->columns, database, &follow->portfolio);
        return err;
}

static int read_start(struct follow *follow, const cJSON *start)
{
        const char *device = text(start, "device"), *method = text(start, "method");
        double brightness = number(start, "max_brightness");
        const cJSON *mode;
        int err;

        if (!device || !method)
                return -EINVAL;
        err = columns_device_from_json(start, &follow->device);
        if (err)
                return err;
        snprintf(follow->device.name, sizeof(follow->device.name), "%s", device);
        snprintf(follow->device.method, sizeof(follow->device.method), "%s", method);
        if (observation_method_from_name(method, &follow->method) < 0)
                follow->method = METHOD_PERCENT;
        follow->device.energy_full_mwh = number(start, "energy_full_mwh");
        follow->device.max_brightness = brightness > 0 && brightness <= UINT32_MAX ? (uint32_t)brightness : 0;
        follow->stop_percent = number(start, "stop_percent");
        cJSON_ArrayForEach(mode, cJSON_GetObjectItemCaseSensitive(start, "modes")) {
                err = add_mode(follow, mode);
                if (err)
                        return err;
        }
        return make_columns(follow, text(start, "database"));
}

static struct cJSON *answer_start(struct follow *follow, const cJSON *start)
{
        cJSON *answer;
        int err;

        follow_reset(follow);
        err = read_start(follow, start);
        if (err == -ENOMEM)
                return failure("out of memory");
        if (err)
                return failure("the start line lacks the device, the method or the modes");
        follow->started = true;
        answer = cJSON_CreateObject();
        cJSON_AddBoolToObject(answer, "ready", true);
        cJSON_AddNumberToObject(answer, "parameters", (double)follow->columns.n);
        return answer;
}

static void read_left_out(struct follow *follow, const cJSON *list)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                const cJSON *item;

                follow->modes[i].left_out = false;
                cJSON_ArrayForEach(item, list) {
                        if (cJSON_IsString(item) && strcmp(item->valuestring, follow->modes[i].name) == 0)
                                follow->modes[i].left_out = true;
                }
        }
}

static struct cJSON *answer_observation(struct follow *follow, const cJSON *line, const cJSON *json)
{
        const cJSON *remaining = cJSON_GetObjectItemCaseSensitive(line, "remaining");

        if (!follow->started)
                return failure("an observation came before the start line");
        if (util_grow(&follow->observations, &follow->capacity, follow->n + 1,
                      sizeof(*follow->observations)) < 0)
                return failure("out of memory");
        if (observation_from_json(json, &follow->observations[follow->n]) < 0)
                return failure("the observation is not complete");
        follow->n++;
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "keep"))) {
                cJSON *answer = cJSON_CreateObject();

                cJSON_AddNumberToObject(answer, "kept", (double)follow->n);
                return answer;
        }
        follow->remaining_percent = number(remaining, "percent");
        follow->remaining_hours = number(remaining, "hours");
        read_left_out(follow, cJSON_GetObjectItemCaseSensitive(line, "left_out"));
        return follow_judge(follow);
}

struct cJSON *follow_answer(struct follow *follow, const char *line, bool *end)
{
        cJSON *json = cJSON_Parse(line), *answer;
        const cJSON *start = cJSON_GetObjectItemCaseSensitive(json, "start");
        const cJSON *observation = cJSON_GetObjectItemCaseSensitive(json, "observation");

        *end = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "end"));
        if (cJSON_IsObject(start)) {
                answer = answer_start(follow, start);
        } else if (cJSON_IsObject(observation)) {
                answer = answer_observation(follow, json, observation);
        } else if (*end) {
                answer = cJSON_CreateObject();
                cJSON_AddBoolToObject(answer, "bye", true);
        } else {
                answer = failure("a line is neither a start nor an observation nor an end");
        }
        cJSON_Delete(json);
        return answer;
}
