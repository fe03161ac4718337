/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observation.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

/*
 * Integers travel as JSON numbers, which are doubles:
 * beyond 2^53 (104 days in ns, 9 PB) they would be rounded.
 */
#define JSON_INTEGER_MAX 9007199254740992.0

const char *const observation_method_names[] = { "percent", "gauge", "ticks", NULL };

enum kind {
        KIND_U32,
        KIND_U64,
        KIND_I64,  /* as a decimal string: realtime in ns is beyond 2^53 */
        KIND_REAL, /* NaN is null */
        KIND_BOOL,
        KIND_TEXT,
};

/* One member of a struct under its own name: the same word in struct, column and JSON. */
struct field {
        const char *name;
        enum kind kind;
        size_t offset;
        size_t size;   /* of a text with its NUL */
        uint32_t have; /* USAGE_* under which an amount was counted; 0: always there */
};

#define FIELD(type, member, kind_, have_)                                                                    \
        { #member, kind_, offsetof(struct type, member), sizeof(((struct type *)0)->member), have_ }

static const struct field usage_fields[] = {
        FIELD(usage, time_ns, KIND_U64, 0),
        FIELD(usage, suspend_ns, KIND_U64, 0),
        FIELD(usage, read_bytes, KIND_U64, USAGE_DISK),
        FIELD(usage, write_bytes, KIND_U64, USAGE_DISK),
        FIELD(usage, wifi_on_ns, KIND_U64, USAGE_WIFI),
        FIELD(usage, wifi_rx_bytes, KIND_U64, USAGE_WIFI),
        FIELD(usage, wifi_tx_bytes, KIND_U64, USAGE_WIFI),
        FIELD(usage, wifi_wakes, KIND_U64, USAGE_WIFI),
        FIELD(usage, other_rx_bytes, KIND_U64, 0),
        FIELD(usage, other_tx_bytes, KIND_U64, 0),
        FIELD(usage, gpu_busy_ns, KIND_U64, USAGE_GPU),
};

static const struct field observation_fields[] = {
        FIELD(observation, id, KIND_I64, 0),
        FIELD(observation, run, KIND_I64, 0),
        FIELD(observation, sequence, KIND_U32, 0),
        FIELD(observation, pass, KIND_U32, 0),
        FIELD(observation, mode, KIND_TEXT, 0),
        FIELD(observation, kind, KIND_TEXT, 0),
        FIELD(observation, start_realtime_ns, KIND_I64, 0),
        FIELD(observation, elapsed_ns, KIND_U64, 0),
        FIELD(observation, percent, KIND_REAL, 0),
        FIELD(observation, steps, KIND_REAL, 0),
        FIELD(observation, charge_full_uah, KIND_REAL, 0),
        FIELD(observation, voltage_mv, KIND_REAL, 0),
        FIELD(observation, power_mw, KIND_REAL, 0),
        FIELD(observation, gauge_updates, KIND_U32, 0),
        FIELD(observation, refresh_s, KIND_REAL, 0),
        FIELD(observation, temperature_c, KIND_REAL, 0),
        FIELD(observation, burn, KIND_BOOL, 0),
        FIELD(observation, held_back, KIND_BOOL, 0),
        FIELD(observation, rejected, KIND_TEXT, 0),
};

static cJSON *integer_text(int64_t value)
{
        char text[24];

        snprintf(text, sizeof(text), "%lld", (long long)value);
        return cJSON_CreateString(text);
}

/* cJSON prints 15 digits; a number must come back as it was. */
static cJSON *exact_integer(uint64_t value)
{
        char text[24];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        return cJSON_CreateRaw(text);
}

static cJSON *exact_real(double value)
{
        char text[32];

        if (!isfinite(value))
                return cJSON_CreateNull();
        snprintf(text, sizeof(text), "%.17g", value);
        return cJSON_CreateRaw(text);
}

static cJSON *field_to_json(const struct field *field, const void *from)
{
        const char *at = (const char *)from + field->offset;

        switch (field->kind) {
        case KIND_U32:
                return exact_integer(*(const uint32_t *)at);
        case KIND_U64:
                return exact_integer(*(const uint64_t *)at);
        case KIND_I64:
                return integer_text(*(const int64_t *)at);
        case KIND_REAL:
                return exact_real(*(const double *)at);
        case KIND_BOOL:
                return cJSON_CreateBool(*(const bool *)at);
        case KIND_TEXT:
                return cJSON_CreateString(at);
        }
        return NULL;
}

static int integer(const cJSON *json, double max, double *ret)
{
        if (!cJSON_IsNumber(json) || !(json->valuedouble >= 0) || json->valuedouble > max ||
            json->valuedouble != floor(json->valuedouble))
                return -EINVAL;
        *ret = json->valuedouble;
        return 0;
}

static int field_from_json(const struct field *field, const cJSON *json, void *to)
{
        char *at = (char *)to + field->offset;
        double number;

        switch (field->kind) {
        case KIND_U32:
                if (integer(json, UINT32_MAX, &number) < 0)
                        return -EINVAL;
                *(uint32_t *)at = (uint32_t)number;
                return 0;
        case KIND_U64:
                if (integer(json, JSON_INTEGER_MAX, &number) < 0)
                        return -EINVAL;
                *(uint64_t *)at = (uint64_t)number;
                return 0;
        case KIND_I64:
                return cJSON_IsString(json) ? util_parse_i64(json->valuestring, (int64_t *)at) : -EINVAL;
        case KIND_REAL:
                if (!cJSON_IsNull(json) && !cJSON_IsNumber(json))
                        return -EINVAL;
                *(double *)at = cJSON_IsNull(json) ? NAN : json->valuedouble;
                return 0;
        case KIND_BOOL:
                if (!cJSON_IsBool(json))
                        return -EINVAL;
                *(bool *)at = cJSON_IsTrue(json);
                return 0;
        case KIND_TEXT:
                if (!cJSON_IsString(json) || strlen(json->valuestring) >= field->size)
                        return -EINVAL;
                util_printable(json->valuestring, at, field->size);
                return 0;
        }
        return -EINVAL;
}

static cJSON *cpu_to_json(const struct usage *usage)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < usage->n_cpu; i++) {
                const struct cpu_time *cpu = &usage->cpu[i];
                cJSON *item = cJSON_CreateObject();

                cJSON_AddItemToObject(item, "policy", exact_integer(cpu->policy));
                cJSON_AddItemToObject(item, "khz", exact_integer(cpu->khz));
                cJSON_AddItemToObject(item, "busy_ns", exact_integer(cpu->busy_ns));
                cJSON_AddItemToObject(item, "any_ns", exact_integer(cpu->any_ns));
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static cJSON *screen_to_json(const struct usage *usage)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < usage->n_screen; i++) {
                const struct screen_time *screen = &usage->screen[i];
                cJSON *item = cJSON_CreateObject();

                if (screen->brightness == BRIGHTNESS_UNKNOWN)
                        cJSON_AddNullToObject(item, "brightness");
                else
                        cJSON_AddItemToObject(item, "brightness", exact_integer(screen->brightness));
                cJSON_AddItemToObject(item, "on_ns", exact_integer(screen->on_ns));
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

struct cJSON *usage_to_json(const struct usage *usage)
{
        cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < ARRAY_SIZE(usage_fields); i++) {
                const struct field *field = &usage_fields[i];
                bool counted = (usage->have & field->have) == field->have;

                cJSON_AddItemToObject(json, field->name,
                                      counted ? field_to_json(field, usage) : cJSON_CreateNull());
        }
        cJSON_AddItemToObject(json, "cpu", usage->have & USAGE_CPU ? cpu_to_json(usage) : cJSON_CreateNull());
        cJSON_AddItemToObject(json, "screen",
                              usage->have & USAGE_DISPLAY ? screen_to_json(usage) : cJSON_CreateNull());
        return json;
}

static int cpu_from_json(const cJSON *list, struct usage *usage)
{
        const cJSON *item;

        if (!cJSON_IsArray(list))
                return -EINVAL;
        cJSON_ArrayForEach(item, list) {
                double policy, khz, busy, any;
                int err;

                if (integer(cJSON_GetObjectItemCaseSensitive(item, "policy"), UINT32_MAX, &policy) < 0 ||
                    integer(cJSON_GetObjectItemCaseSensitive(item, "khz"), UINT32_MAX, &khz) < 0 ||
                    integer(cJSON_GetObjectItemCaseSensitive(item, "busy_ns"), JSON_INTEGER_MAX, &busy) < 0 ||
                    integer(cJSON_GetObjectItemCaseSensitive(item, "any_ns"), JSON_INTEGER_MAX, &any) < 0)
                        return -EINVAL;
                err = usage_add_cpu(usage, (uint32_t)policy, (uint32_t)khz, (uint64_t)busy, (uint64_t)any);
                if (err)
                        return err;
        }
        return 0;
}

static int screen_from_json(const cJSON *list, struct usage *usage)
{
        const cJSON *item;

        if (!cJSON_IsArray(list))
                return -EINVAL;
        cJSON_ArrayForEach(item, list) {
                const cJSON *level = cJSON_GetObjectItemCaseSensitive(item, "brightness");
                double brightness = BRIGHTNESS_UNKNOWN, on;
                int err;

                if ((!cJSON_IsNull(level) && integer(level, UINT32_MAX, &brightness) < 0) ||
                    integer(cJSON_GetObjectItemCaseSensitive(item, "on_ns"), JSON_INTEGER_MAX, &on) < 0)
                        return -EINVAL;
                err = usage_add_screen(usage, (uint32_t)brightness, (uint64_t)on);
                if (err)
                        return err;
        }
        return 0;
}

static int usage_parse(const cJSON *json, struct usage *usage)
{
        const cJSON *cpu = cJSON_GetObjectItemCaseSensitive(json, "cpu");
        const cJSON *screen = cJSON_GetObjectItemCaseSensitive(json, "screen");
        int err;

        usage->have = USAGE_ALL;
        for (size_t i = 0; i < ARRAY_SIZE(usage_fields); i++) {
                const struct field *field = &usage_fields[i];
                const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, field->name);

                if (field->have && (!item || cJSON_IsNull(item)))
                        usage->have &= ~field->have;
                else if (field_from_json(field, item, usage) < 0)
                        return -EINVAL;
        }
        if (!cpu || cJSON_IsNull(cpu))
                usage->have &= ~(uint32_t)USAGE_CPU;
        else if ((err = cpu_from_json(cpu, usage)) < 0)
                return err;
        if (!screen || cJSON_IsNull(screen))
                usage->have &= ~(uint32_t)USAGE_DISPLAY;
        else if ((err = screen_from_json(screen, usage)) < 0)
                return err;
        return 0;
}

int usage_from_json(const struct cJSON *json, struct usage *ret)
{
        struct usage usage = { 0 };
        int err;

        if (!cJSON_IsObject(json))
                return -EINVAL;
        err = usage_parse(json, &usage);
        if (err < 0) {
                usage_clear(&usage);
                return err;
        }
        *ret = usage;
        return 0;
}

struct cJSON *observation_to_json(const struct observation *observation)
{
        cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < ARRAY_SIZE(observation_fields); i++)
                cJSON_AddItemToObject(json, observation_fields[i].name,
                                      field_to_json(&observation_fields[i], observation));
        cJSON_AddStringToObject(json, "method", observation_method_names[observation->method]);
        cJSON_AddItemToObject(json, "usage", usage_to_json(&observation->usage));
        return json;
}

int observation_from_json(const struct cJSON *json, struct observation *ret)
{
        struct observation observation = { 0 };
        const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "method"));
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(observation_fields); i++) {
                const struct field *field = &observation_fields[i];

                if (field_from_json(field, cJSON_GetObjectItemCaseSensitive(json, field->name),
                                    &observation) < 0)
                        return -EINVAL;
        }
        if (observation_method_from_name(method, &observation.method) < 0)
                return -EINVAL;
        err = usage_from_json(cJSON_GetObjectItemCaseSensitive(json, "usage"), &observation.usage);
        if (err < 0)
                return err;
        *ret = observation;
        return 0;
}

int observation_method_from_name(const char *name, enum observation_method *ret)
{
        for (size_t i = 0; name && observation_method_names[i]; i++) {
                if (strcmp(name, observation_method_names[i]))
                        continue;
                *ret = (enum observation_method)i;
                return 0;
        }
        return -EINVAL;
}

void observation_clear(struct observation *observation)
{
        usage_clear(&observation->usage);
        *observation = (struct observation){ 0 };
}
