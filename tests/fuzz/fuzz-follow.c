/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cjson/cJSON.h>
#include <gsl/gsl_errno.h>
#include <string.h>

#include "fit/follow.h"
#include "fuzz.h"
#include "util/util.h"

/* Input of joulecast-fit --follow: each line gets one answer, whatever came before it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct follow *follow = NULL;
        char *line, *rest = text;
        bool end = false;

        gsl_set_error_handler_off();
        fuzz_assert(text && follow_new(&follow) == 0);
        for (unsigned n = 0; !end && n < 12 && (line = strsep(&rest, "\n")); n++) {
                cJSON *answer = follow_answer(follow, line, &end);

                fuzz_assert(cJSON_IsObject(answer));
                cJSON_Delete(answer);
        }
        follow_free(follow);
        return 0;
}
