/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fuzz.h"
#include "model/profile.h"
#include "util/log.h"
#include "util/util.h"

/* A profile that parses can be printed and parsed again, and is then the same text: a round trip is exact. */

static void one_sentence(void *data, enum log_level level, const char *sentence)
{
        unsigned *n = data;

        fuzz_assert(*sentence && !strchr(sentence, '\n') && !strchr(sentence, '\033'));
        if (level == LOG_LEVEL_ERROR)
                ++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(profile_freep) struct profile *profile = NULL, *again = NULL;
        _cleanup_free_ char *text = NULL, *text_again = NULL;
        unsigned n_errors = 0;
        struct log log = { one_sentence, &n_errors };

        if (profile_parse((const char *)data, size, "fuzz", &log, &profile) < 0) {
                fuzz_assert(!profile && n_errors == 1);
                return 0;
        }
        fuzz_assert(n_errors == 0);
        fuzz_assert(profile_print(profile, &text) == 0);
        fuzz_assert(profile_parse(text, strlen(text), "again", NULL, &again) == 0);
        fuzz_assert(profile_print(again, &text_again) == 0);
        fuzz_assert(strcmp(text, text_again) == 0);
        return 0;
}
