/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shown.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"
#include "watch.h"

const char *const shown_deeds[SHOWN_DEEDS] = {
        [FINDING_CLOSE] = N_("close"), [FINDING_SETTING] = N_("change"), [FINDING_UPDATE] = N_("update"),
        [FINDING_RESTART] = N_("restart"),
};

size_t shown_take(const struct findings *findings, struct shown list[SHOWN_MAX])
{
        size_t n = 0;

        for (; n < findings->n && n < SHOWN_MAX; n++) {
                list[n] = (struct shown){ .kind = findings->list[n].kind };
                snprintf(list[n].app, sizeof(list[n].app), "%s", findings->list[n].app);
                snprintf(list[n].value, sizeof(list[n].value), "%s", findings->list[n].value);
        }
        return n;
}

int shown_from_json(const struct cJSON *json, struct shown *ret)
{
        size_t kind = watch_find_word(json, "do", shown_deeds, SHOWN_DEEDS);
        struct shown shown;

        if (kind == SHOWN_DEEDS || watch_take_text(json, "app", shown.app, sizeof(shown.app)) < 0 || !*shown.app ||
            watch_take_text(json, "value", shown.value, sizeof(shown.value)) < 0)
                return -EINVAL;
        shown.kind = (enum finding_kind)kind;
        *ret = shown;
        return 0;
}

struct cJSON *shown_json(const struct shown *shown)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "do", shown_deeds[shown->kind]);
        cJSON_AddStringToObject(json, "app", shown->app);
        cJSON_AddStringToObject(json, "value", shown->value);
        return json;
}
