/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A point in time as people give it: a time, or the last event of a kind ("full"), which the database knows. */

#include <stddef.h>
#include <stdint.h>

#include "joulecast.h"

struct moment {
        int64_t ns;       /* realtime; INT64_MIN: from the first record on */
        const char *word; /* "full" or the like, whose time is not known yet; NULL: the time is known */
};

/* values_parse_time(), or full, unplug, boot or resume. 0; -EINVAL; -ERANGE. */
int moment_parse(const char *text, int64_t now_ns, struct moment *ret);

/*
 * Turns a word into its time. 0; a negative errno, mostly -ENODATA, after a sentence in @sentence, which for errors of
 * the store or the service is empty: these were logged.
 */
int moment_find(struct joulecast_usage *usage, struct moment *moment, char *sentence, size_t size);
