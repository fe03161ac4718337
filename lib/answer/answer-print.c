/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "answer.h"
#include "model/json-print.h"
#include "options.h"
#include "util/util.h"

int answer_print_json(struct cJSON *json)
{
        _cleanup_free_ char *text = NULL;

        json_add_schema(json);
        text = json_print(json, JSON_INDENTED);

        if (!text)
                return CODE_FAILED; /* main() says that there is no memory */
        puts(text);
        return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
}
