/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "observation/observation.h"
#include "util/util.h"

static char *write_out(const struct observation *observation)
{
        cJSON *json = observation_to_json(observation);
        char *text = cJSON_PrintUnformatted(json);

        fuzz_assert(json && text);
        cJSON_Delete(json);
        return text;
}

/* Messages between calibrate and fit: a parsed one can be written, parsed again, and is then the same text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct observation observation = { 0 }, again = { 0 };
        cJSON *json = cJSON_ParseWithLength((const char *)data, size);
        _cleanup_free_ char *text = NULL, *text_again = NULL;

        if (!json || observation_from_json(json, &observation) < 0) {
                cJSON_Delete(json);
                return 0;
        }
        cJSON_Delete(json);
        text = write_out(&observation);
        json = cJSON_Parse(text);
        fuzz_assert(json && observation_from_json(json, &again) == 0);
        cJSON_Delete(json);
        text_again = write_out(&again);
        fuzz_assert(strcmp(text, text_again) == 0);
        observation_clear(&observation);
        observation_clear(&again);
        return 0;
}
