/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Where `joulecast top` gets what was used since it looked last: from the service, which counts everybody's anyway and says
 * what this user may see; else by sources of its own; or, with --from, from polls that were recorded.
 */

#include "ask.h"
#include "forecast/cost.h"
#include "util/log.h"

enum top_kind {
        TOP_SERVICE,
        TOP_SOURCES,
        TOP_RECORDED,
};

struct top_reading {
        struct cost *cost;       /* cost_free() it; NULL: nothing new */
        double seconds;
        bool before;             /* it began before top did: since the service's last poll */
        double percent;          /* of charge; NaN: unknown */
        int plugged;             /* -1: unknown */
        int64_t time_ns;         /* realtime, at the end */
};

struct top_feed_options {
        const struct options *options;
        const char *collector;       /* NULL: the service, or the best one */
        const struct profile *profile;
        struct ask *ask;             /* what is recorded; its usage may be NULL */
        int64_t from_ns, to_ns;      /* INT64_MIN and INT64_MAX: now */
        const struct log *log;
};

struct top_feed;

/* An exit code, after its sentence. All of @options stays in use. */
int top_feed_open(const struct top_feed_options *options, struct top_feed **ret);
void top_feed_close(struct top_feed *feed);
enum top_kind top_feed_kind(const struct top_feed *feed);
/* It shows other users' apps as one row, or not at all. */
bool top_feed_own_only(const struct top_feed *feed);
/* 0; -ENODATA: there are no more recorded polls; another negative errno, after a sentence in the log. */
int top_feed_read(struct top_feed *feed, struct top_reading *ret);
