/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>

#include "answer.h"
#include "util/util.h"

#define RETRY_S 300

void answer_error(struct answer *answer, int status, const char *sentence)
{
        cJSON *object = cJSON_CreateObject();

        *answer = (struct answer){ .status = status };
        if (object && cJSON_AddStringToObject(object, "error", sentence))
                answer->body = cJSON_PrintUnformatted(object);
        cJSON_Delete(object);
}

void answer_json(struct answer *answer, cJSON *object)
{
        *answer = (struct answer){ .status = 200, .body = object ? cJSON_PrintUnformatted(object) : NULL };
        cJSON_Delete(object);
}

void answer_unavailable(struct answer *answer)
{
        answer_error(answer, 503, "the database does not answer now; send the same again later");
        answer->retry_s = RETRY_S;
}

cJSON *answer_report(const struct report *report, const char *hex, int64_t made_s)
{
        cJSON *object = report_json(report, hex, true);

        if (object && cJSON_AddNumberToObject(object, "made", (double)made_s) &&
            cJSON_AddNumberToObject(object, "k", COMMUNITY_CLIENTS_MIN))
                return object;
        cJSON_Delete(object);
        return NULL;
}
