/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "fuzz.h"
#include "measured/baseline.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        _cleanup_free_ struct baseline *list = NULL;
        uint32_t unknown;

        if (measured_parse((const char *)data, size, "fuzz", NULL, &trace) < 0) {
                fuzz_assert(!trace);
                return 0;
        }
        fuzz_assert(trace && trace->n > 0);
        if (measured_resolve(trace, 10000) < 0)
                return 0;
        measured_keep_known(trace, &unknown);
        list = calloc(trace->n + 1, sizeof(*list));
        if (list)
                baseline_make(trace, NULL, list);
        return 0;
}
