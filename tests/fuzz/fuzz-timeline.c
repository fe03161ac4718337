/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "fuzz.h"
#include "util/util.h"

/* Invariants that charts and tables rely on. */
static void check_timeline(const struct timeline *timeline)
{
        fuzz_assert(timeline->from_ns < timeline->to_ns);
        fuzz_assert(timeline->slot_s >= TIMELINE_QUARTER_S && timeline->slot_s <= TIMELINE_WEEK_S);
        fuzz_assert(timeline->n_apps <= TIMELINE_APPS && timeline->n_slots > 0 &&
                    timeline->n_slots <= TIMELINE_SLOTS_MAX);
        fuzz_assert(timeline->n_hours <= TIMELINE_HOURS_MAX);
        for (size_t i = 0; i < timeline->n_apps; i++) {
                char plain[APP_ID_MAX];

                fuzz_assert(strcmp(util_printable(timeline->apps[i].name, plain, sizeof(plain)),
                                   timeline->apps[i].name) == 0);
                fuzz_assert(isfinite(timeline->apps[i].energy_j));
        }
        for (size_t i = 0; i < timeline->n_slots; i++) {
                fuzz_assert(timeline->slots[i].start_ns < timeline->slots[i].end_ns &&
                            timeline->slots[i].recorded_s >= 0);
                for (size_t a = 0; a < timeline->n_apps; a++)
                        fuzz_assert(isfinite(timeline->slots[i].apps_j[a]));
        }
        for (size_t i = 0; i < timeline->n_charges; i++)
                fuzz_assert(timeline->charges[i].state <= STORE_FULL);
}

/*
 * The service's answer about a span, as `joulecast report` parses it; the result can be written as such an answer
 * again.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct cJSON *json = cJSON_ParseWithLength((const char *)data, size), *again;
        struct timeline *timeline = NULL;
        int err = answer_timeline_from_json(json, &timeline);

        cJSON_Delete(json);
        fuzz_assert(err <= 0 && (err == 0) == (timeline != NULL));
        if (err)
                return 0;
        check_timeline(timeline);
        again = answer_json(timeline_fields, timeline, NULL);
        timeline_free(timeline);
        timeline = NULL;
        if (answer_timeline_from_json(again, &timeline) == 0)
                check_timeline(timeline);
        timeline_free(timeline);
        cJSON_Delete(again);
        return 0;
}
