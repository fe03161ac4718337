/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/fields.h"
#include "util/util.h"

const char *const observation_method_names[] = { "percent", "gauge", "ticks", NULL };

const struct field observation_fields[OBSERVATION_FIELDS] = {
        FIELD(observation, id, I64),
        FIELD(observation, run, I64),
        FIELD(observation, sequence, U32),
        FIELD(observation, pass, U32),
        FIELD(observation, mode, TEXT),
        FIELD(observation, kind, TEXT),
        FIELD(observation, start_realtime_ns, I64),
        FIELD(observation, elapsed_ns, U64),
        FIELD(observation, percent, REAL),
        FIELD(observation, steps, REAL),
        FIELD(observation, charge_full_uah, REAL),
        FIELD(observation, voltage_mv, REAL),
        FIELD(observation, power_mw, REAL),
        FIELD(observation, gauge_updates, U32),
        FIELD(observation, refresh_s, REAL),
        FIELD(observation, temperature_c, REAL),
        FIELD(observation, wifi_signal_dbm, REAL),
        FIELD(observation, cellular_signal_percent, REAL),
        FIELD(observation, burn, BOOL),
        FIELD(observation, held_back, BOOL),
        FIELD(observation, rejected, TEXT),
        FIELD(observation, gauge_begin_mw, REAL),
        FIELD(observation, gauge_end_mw, REAL),
        FIELD(observation, gauge_kind, TEXT),
        FIELD(observation, gauge_kernel_s, REAL),
        FIELD(observation, gauge_delay_s, REAL),
        FIELD(observation, drawn_j, REAL),
        FIELD(observation, counted_j, REAL),
};

const struct field run_fields[RUN_FIELDS] = {
        FIELD(observation_run, id, I64),
        FIELD(observation_run, device, TEXT),
        FIELD(observation_run, method, TEXT),
        FIELD(observation_run, plan, TEXT),
        FIELD(observation_run, seed, I64), /* its 64 bits, of either sign */
        FIELD(observation_run, start_realtime_ns, I64),
        FIELD(observation_run, energy_full_mwh, REAL),
        FIELD(observation_run, max_brightness, U32),
        FIELD(observation_run, finished, BOOL),
};

static cJSON *integer_text(int64_t value)
{
        char text[24];

        snprintf(text, sizeof(text), "%lld", (long long)value);
        return cJSON_CreateString(text);
}

/* cJSON prints 15 digits; a number must come back as it was. */
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
        case FIELD_U32:
                return usage_json_integer(*(const uint32_t *)at);
        case FIELD_U64:
                return usage_json_integer(*(const uint64_t *)at);
        case FIELD_I64:
                return integer_text(*(const int64_t *)at);
        case FIELD_REAL:
                return exact_real(*(const double *)at);
        case FIELD_BOOL:
                return cJSON_CreateBool(*(const bool *)at);
        case FIELD_TEXT:
                return cJSON_CreateString(at);
        }
        return NULL;
}

static int field_from_json(const struct field *field, const cJSON *json, void *to)
{
        char *at = (char *)to + field->offset;
        double number;

        switch (field->kind) {
        case FIELD_U32:
                if (usage_json_read_integer(json, UINT32_MAX, &number) < 0)
                        return -EINVAL;
                *(uint32_t *)at = (uint32_t)number;
                return 0;
        case FIELD_U64:
                if (usage_json_read_integer(json, USAGE_JSON_INTEGER_MAX, &number) < 0)
                        return -EINVAL;
                *(uint64_t *)at = (uint64_t)number;
                return 0;
        case FIELD_I64:
                return cJSON_IsString(json) ? util_parse_i64(json->valuestring, (int64_t *)at) : -EINVAL;
        case FIELD_REAL:
                if (!cJSON_IsNull(json) && !cJSON_IsNumber(json))
                        return -EINVAL;
                *(double *)at = cJSON_IsNull(json) ? NAN : json->valuedouble;
                return 0;
        case FIELD_BOOL:
                if (!cJSON_IsBool(json))
                        return -EINVAL;
                *(bool *)at = cJSON_IsTrue(json);
                return 0;
        case FIELD_TEXT:
                if (!cJSON_IsString(json) || strlen(json->valuestring) >= field->size)
                        return -EINVAL;
                util_printable(json->valuestring, at, field->size);
                return 0;
        }
        return -EINVAL;
}

struct cJSON *observation_to_json(const struct observation *observation)
{
        cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < OBSERVATION_FIELDS; i++)
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

        for (size_t i = 0; i < OBSERVATION_FIELDS; i++) {
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
