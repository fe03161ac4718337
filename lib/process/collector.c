/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "collector.h"
#include "util/words.h"

#include <errno.h>
#include <string.h>

const struct collector plain_collectors[] = {
        { "proc", N_("/proc of all processes"), process_plain_open },
        { NULL },
};

int collector_open(const struct collector *collectors, const char *name,
                   const struct collector_options *options, struct source **ret)
{
        int err = name ? -EINVAL : -ENODEV;

        for (const struct collector *collector = collectors; collector->name; collector++) {
                if (name && strcmp(name, collector->name) != 0)
                        continue;
                err = collector->open(options, ret);
                if (!err || name)
                        return err;
        }
        return err;
}
