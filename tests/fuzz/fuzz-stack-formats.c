/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "calls.h"
#include "fuzz.h"
#include "gzip/gzip.h"
#include "read.h"
#include "util/util.h"

/* A file of stacks in any supported format, detected by its contents. Values add up, and labels are text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(stacks_clear) struct stacks stacks = { 0 };
        _cleanup_fclose_ FILE *file = NULL;
        struct read read = { .name = "fuzz", .stacks = &stacks };
        double sum = 0;

        if (size == 0 || gzip_unpack(fmemopen((void *)(uintptr_t)data, size, "r"), &file) < 0)
                return 0;
        fuzz_assert(stacks_new(&stacks) == 0 && stacks_begin(&stacks) == 0);
        if (read_stream(&read, file) == 0) {
                for (size_t i = 0; i < stacks.runs[0].n; i++)
                        sum += stacks_value(&stacks.runs[0], i);
                fuzz_assert(fabs(sum - stacks_total(&stacks.runs[0])) <= 1e-6 * sum && read.unit);
                for (size_t i = 1; i < stacks.labels.n; i++)
                        fuzz_assert(read_is_text(labels_text(&stacks.labels, (int32_t)i),
                                                 strlen(labels_text(&stacks.labels, (int32_t)i))));
        }
        calls_free(read.calls);
        return 0;
}
