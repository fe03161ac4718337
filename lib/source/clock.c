/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The three clocks at one moment, and which boot they belong to. */

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "util/units.h"
#include "util/util.h"

/* Read again if interrupted between two clocks: the difference would look like a suspend. */
#define MOST_APART_NS (20 * NS_PER_US)
#define TRIES 4

struct clock_source {
        struct source source;
        char boot_id[40];
};

static int clock_read(struct source *source, struct sample *sample)
{
        struct clock_source *self = (struct clock_source *)source;

        for (int i = 0; i < TRIES; i++) {
                sample->monotonic_ns = util_clock_ns(CLOCK_MONOTONIC);
                sample->boottime_ns = util_clock_ns(CLOCK_BOOTTIME);
                if (util_clock_ns(CLOCK_MONOTONIC) - sample->monotonic_ns < MOST_APART_NS)
                        break;
        }
        sample->realtime_ns = (int64_t)util_clock_ns(CLOCK_REALTIME);
        memcpy(sample->boot_id, self->boot_id, sizeof(sample->boot_id));
        return 0;
}

static void clock_close(struct source *source)
{
        free(source);
}

static const struct source_ops clock_ops = { "clock", clock_read, clock_close };

int clock_open(int root_fd, struct source **ret)
{
        struct clock_source *self = calloc(1, sizeof(*self));
        char boot_id[sizeof(self->boot_id)];

        if (!self)
                return -ENOMEM;
        self->source.ops = &clock_ops;
        if (util_read_at(root_fd, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) > 0) {
                boot_id[strcspn(boot_id, "\n")] = '\0';
                util_printable(boot_id, self->boot_id, sizeof(self->boot_id));
        }
        *ret = &self->source;
        return 0;
}
