/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Commands of the harness: {"cmd": "truth"} and the like, one JSON line each. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "physics.h"
#include "rtc.h"
#include "util/units.h"
#include "util/util.h"

#define NIGHT_MAX_S 604800

/* Power of a charger: @value if it is a number; true: fills the battery in one hour of the device's time; else 0. */
static double charger_w(const struct physics *physics, const cJSON *value)
{
        if (cJSON_IsNumber(value))
                return value->valuedouble;
        return cJSON_IsTrue(value) ? physics->world.truth->energy_full_mwh / 1000 : 0;
}

static int set_charger(struct physics *physics, const cJSON *value)
{
        physics->registers.events |= EVENT_CHARGER | EVENT_BATTERY;
        return world_plug(&physics->world, charger_w(physics, value));
}

static int force(struct registers *registers, enum reg reg, const cJSON *value)
{
        registers->is_forced &= ~(1u << reg);
        if (cJSON_IsNull(value))
                return 0;
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= REG_UNKNOWN))
                return -EINVAL;
        registers->is_forced |= 1u << reg;
        registers->forced[reg] = (uint32_t)value->valuedouble;
        return 0;
}

static int set_battery(struct physics *physics, const cJSON *value)
{
        cJSON number = { .type = cJSON_Number, .valuedouble = cJSON_IsTrue(value) };

        physics->registers.events |= EVENT_BATTERY | EVENT_BATTERY_INFO;
        return force(&physics->registers, REG_PRESENT, &number);
}

static int set_percent(struct physics *physics, const cJSON *value)
{
        return cJSON_IsNumber(value) ? virtual_set_percent(physics->world.device, value->valuedouble) : -EINVAL;
}

/* null: none, which is the fastest state; nothing else writes this one. */
static int set_limit(struct physics *physics, const cJSON *value)
{
        const cJSON fastest = { .type = cJSON_Number };

        physics->registers.events |= EVENT_LIMIT;
        return force(&physics->registers, REG_LIMIT, cJSON_IsNull(value) ? &fastest : value);
}

static int set_temperature(struct physics *physics, const cJSON *value)
{
        cJSON number = { .type = cJSON_Number };

        if (!cJSON_IsNumber(value))
                return force(&physics->registers, REG_TEMPERATURE, value);
        number.valuedouble = round((value->valuedouble + 273.15) * 10);
        return force(&physics->registers, REG_TEMPERATURE, &number);
}

static int set_gauge(struct physics *physics, const cJSON *value)
{
        static const char *const words[] = { "works", "stuck", "missing", "zero" }; /* enum gauge_fault */

        for (unsigned i = 0; cJSON_IsString(value) && i < ARRAY_SIZE(words); i++) {
                if (strcmp(value->valuestring, words[i]) != 0)
                        continue;
                physics->registers.fault = i;
                return 0;
        }
        return -EINVAL;
}

static int set_register(struct physics *physics, const cJSON *value)
{
        const cJSON *item;
        int err = cJSON_IsObject(value) ? 0 : -EINVAL;

        cJSON_ArrayForEach(item, value) {
                int reg = register_find(item->string);

                if (!err)
                        err = reg < 0 ? reg : force(&physics->registers, (enum reg)reg, item);
        }
        return err;
}

static int set_event(struct physics *physics, const cJSON *value)
{
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble < 64))
                return -EINVAL;
        physics->registers.events |= (uint32_t)value->valuedouble;
        return 0;
}

static const struct {
        const char *name;
        int (*set)(struct physics *physics, const cJSON *value);
} settings[] = {
        { "charger", set_charger },         { "battery", set_battery }, { "percent", set_percent },
        { "ppc", set_limit },               { "gauge", set_gauge },     { "temperature", set_temperature },
        { "registers", set_register },      { "event", set_event },
};

static int set(struct physics *physics, const char *name, const cJSON *value)
{
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
                if (strcmp(settings[i].name, name) == 0)
                        return settings[i].set(physics, value);
        return -EINVAL;
}

static int set_all(struct physics *physics, const cJSON *command)
{
        const cJSON *item;

        cJSON_ArrayForEach(item, command) {
                int err = strcmp(item->string, "cmd") == 0 ? 0 : set(physics, item->string, item);

                if (err)
                        return err;
        }
        return 0;
}

static cJSON *status(const struct physics *physics)
{
        cJSON *json = cJSON_CreateObject(), *cpus = cJSON_AddArrayToObject(json, "cpus");

        cJSON_AddNumberToObject(json, "steps", (double)physics->steps);
        cJSON_AddBoolToObject(json, "throttled", physics->throttled);
        cJSON_AddBoolToObject(json, "asleep", physics->load.asleep);
        cJSON_AddBoolToObject(json, "screen", physics->load.screen_on);
        cJSON_AddNumberToObject(json, "backlight_percent", physics->load.level_percent);
        cJSON_AddBoolToObject(json, "wifi", physics->load.wifi_on);
        for (size_t i = 0; cpus && i < physics->vcpus.n; i++) {
                cJSON *cpu = cJSON_CreateObject();

                cJSON_AddNumberToObject(cpu, "khz", physics->load.khz[i]);
                cJSON_AddNumberToObject(cpu, "busy", physics->load.busy[i]);
                cJSON_AddItemToArray(cpus, cpu);
        }
        return json;
}

/*
 * Lets the phone's clock and battery advance by so many seconds at once. Only while it is suspended, as it would notice
 * when awake.
 */
static const char *sleep_for(struct physics *physics, const cJSON *seconds)
{
        const struct world_load asleep = { .asleep = true };
        int err;

        if (!physics->load.asleep)
                return "the phone is awake";
        if (!cJSON_IsNumber(seconds) || !(seconds->valuedouble >= 1 && seconds->valuedouble <= NIGHT_MAX_S))
                return "no number of seconds";
        err = rtc_forward(&physics->qtest, (int64_t)seconds->valuedouble);
        if (!err)
                err = world_step(&physics->world, floor(seconds->valuedouble), &asleep);
        return err ? strerror(-err) : NULL;
}

static cJSON *answer(struct physics *physics, const char *cmd, const cJSON *command)
{
        cJSON *json;

        if (strcmp(cmd, "truth") == 0)
                return world_truth(&physics->world);
        if (strcmp(cmd, "coefficients") == 0)
                return world_coefficients(&physics->world);
        if (strcmp(cmd, "status") == 0)
                return status(physics);
        json = cJSON_CreateObject();
        if (strcmp(cmd, "sleep") == 0) {
                const char *error = sleep_for(physics, cJSON_GetObjectItemCaseSensitive(command, "seconds"));

                if (error)
                        cJSON_AddStringToObject(json, "error", error);
                return json;
        }
        if (strcmp(cmd, "mark") == 0 && world_mark(&physics->world) < 0)
                cJSON_AddStringToObject(json, "error", "out of memory");
        else if (strcmp(cmd, "quit") == 0)
                physics->quit = true;
        else if (strcmp(cmd, "mark") != 0 && strcmp(cmd, "set") != 0)
                cJSON_AddStringToObject(json, "error", "no such command");
        else if (strcmp(cmd, "set") == 0 && set_all(physics, command) < 0)
                cJSON_AddStringToObject(json, "error", "no such setting, or no value for it");
        return json;
}

char *control_answer(struct physics *physics, const char *line)
{
        cJSON *command = cJSON_Parse(line), *json = NULL;
        const cJSON *cmd = cJSON_GetObjectItemCaseSensitive(command, "cmd");
        char *text;

        if (cJSON_IsString(cmd))
                json = answer(physics, cmd->valuestring, command);
        text = json ? cJSON_PrintUnformatted(json) : strdup("{\"error\":\"a command is a JSON line with cmd\"}");
        cJSON_Delete(json);
        cJSON_Delete(command);
        return text;
}
