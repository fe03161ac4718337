/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "fuzz.h"
#include "util/util.h"

/* Parser of the service's answer about the last moments, used by joulecast top. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct cJSON *json = cJSON_ParseWithLength((const char *)data, size);
        struct answer_live live = { 0 };
        struct cost *cost = NULL;
        char plain[APP_ID_MAX];
        int err;

        if (!json)
                return 0;
        err = answer_live_from_json(json, &live, &cost);
        cJSON_Delete(json);
        fuzz_assert(err <= 0 && (err == 0) == (cost != NULL));
        for (size_t i = 0; cost && i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                fuzz_assert(*app->app && app->name);
                fuzz_assert(strcmp(util_printable(app->app, plain, sizeof(plain)), app->app) == 0);
                fuzz_assert(!isinf(app->energy_j.value) && !isinf(app->energy_j.low) && !isinf(app->energy_j.high));
        }
        if (cost) {
                fuzz_assert(!isinf(cost->recorded_s) && !isinf(cost->total_j.value) && !isinf(cost->base_j));
                fuzz_assert(!isinf(live.percent) && live.plugged >= -1 && live.plugged <= 1);
        }
        cost_free(cost);
        return 0;
}
