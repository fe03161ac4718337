/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "question.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char error[QUESTION_ERROR_MAX] = "", printable[QUESTION_ERROR_MAX];
        struct question question;

        if (question_parse((const char *)data, size, &question, error) < 0) {
                fuzz_assert(*error &&
                            strcmp(util_printable(error, printable, sizeof(printable)), error) == 0);
                return 0;
        }
        fuzz_assert(question.ask != ASK_NOTHING && (question.from.word || question.from.ns < question.to_ns));
        fuzz_assert(question.app || question.ask != ASK_PREDICT); /* a budget without an app is of mixed use */
        fuzz_assert(question.plan.n_reserves <= BUDGET_RESERVES_MAX);
        fuzz_assert(question.changes.n_close <= CHANGE_APPS_MAX && !(question.changes.off & ~CHANGE_OFF_ALL));
        fuzz_assert(question.ask != ASK_WHATIF || question.changes.n_close > 0 || question.changes.off ||
                    question.changes.brightness_percent >= 0);
        fuzz_assert(!(question.changes.keep_minutes < 0) && !(question.changes.brightness_percent > 100));
        question_clear(&question);
        return 0;
}
