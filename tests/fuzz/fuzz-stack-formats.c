/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "fuzz.h"
#include "read.h"
#include "util/util.h"

/* A file of stacks in any supported format, detected by its contents. Values add up, and labels are text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(stacks_clear) struct stacks stacks = { 0 };
        _cleanup_close_ int fd = memfd_create("stacks", MFD_CLOEXEC);
        struct read read = { .name = "fuzz", .stacks = &stacks };
        double sum = 0;

        fuzz_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
        fuzz_assert(stacks_new(&stacks) == 0 && stacks_begin(&stacks) == 0);
        if (read_fd(&read, fd) == 0) {
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
