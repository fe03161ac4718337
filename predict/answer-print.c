/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <stdio.h>

#include "answer.h"
#include "options.h"
#include "util/util.h"

int answer_print_json(struct cJSON *json)
{
        _cleanup_free_ char *text = cJSON_Print(json);
        int failed;

        cJSON_Delete(json);
        failed = !text || puts(text) == EOF || fflush(stdout) == EOF;
        if (failed)
                log_error(&program_log, "the answer could not be written");
        return failed ? CODE_FAILED : CODE_OK;
}
