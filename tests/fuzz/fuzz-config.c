/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "util/config.h"
#include "util/util.h"

/* joulecast.conf: accepted values are in the ranges of its table. */

static char path[64];
static int fd = -1;

static void remove_file(void)
{
        unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct config config = { 0 };

        if (fd < 0) {
                fuzz_place(path, "config");
                fd = mkostemp(path, O_CLOEXEC);
                atexit(remove_file);
        }
        fuzz_assert(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
        if (config_load(path, NULL, &config) < 0)
                return 0;
        fuzz_assert(config.interval_s >= 0.1 && config.interval_s <= 86400 && config.collector);
        config_clear(&config);
        return 0;
}
