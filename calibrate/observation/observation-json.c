/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "util/fields.h"
#include "util/util.h"

const char *const observation_method_names[] = { "percent", "gauge", "ticks", NULL };

const struct field observation_fields[OBSERVATION_FIELDS + 1] = {
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
        FIELDS_END,
};

const struct field run_fields[RUN_FIELDS + 1] = {
        FIELD(observation_run, id, I64),
        FIELD(observation_run, device, TEXT),
        FIELD(observation_run, method, TEXT),
        FIELD(observation_run, plan, TEXT),
        FIELD(observation_run, seed, I64), /* its 64 bits, of either sign */
        FIELD(observation_run, start_realtime_ns, I64),
        FIELD(observation_run, energy_full_mwh, REAL),
        FIELD(observation_run, max_brightness, U32),
        FIELD(observation_run, finished, BOOL),
        FIELDS_END,
};

struct cJSON *observation_to_json(const struct observation *observation)
{
        cJSON *json = cJSON_CreateObject();

        fields_to_json(observation_fields, observation, json);
        cJSON_AddStringToObject(json, "method", observation_method_names[observation->method]);
        cJSON_AddItemToObject(json, "usage", usage_to_json(&observation->usage));
        return json;
}

int observation_from_json(const struct cJSON *json, struct observation *ret)
{
        struct observation observation = { 0 };
        const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "method"));
        int err;

        for (const struct field *field = observation_fields; field->kind != FIELD_END; field++)
                if (!cJSON_GetObjectItemCaseSensitive(json, field->key)) /* the unknown is null, not missing */
                        return -EINVAL;
        if (fields_from_json(observation_fields, json, &observation) < 0 ||
            observation_method_from_name(method, &observation.method) < 0)
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
