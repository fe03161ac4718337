/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Readings for `joulecast top`: the usage since the last reading. It comes from the service, which counts everybody's
 * usage anyway and returns what this user may see; else from sources of its own; or, with --from, from recorded polls.
 */

#include "ask.h"
#include "forecast/cost.h"
#include "util/log.h"

enum top_kind {
        TOP_SERVICE,
        TOP_SOURCES,
        TOP_RECORDED,
};

#define TOP_GONE_S 20 /* a service that restarts is back sooner */

struct top_reading {
        struct cost *cost;       /* cost_free() it; NULL: nothing new */
        double seconds;
        bool before;             /* it began before top did, at the service's last poll */
        double percent;          /* charge; NaN: unknown */
        int plugged;             /* -1: unknown */
        int64_t time_ns;         /* realtime, at the end */
};

struct top_feed_options {
        const struct options *options;
        const char *collector;       /* NULL: the service, or the best one */
        const struct profile *profile;
        struct ask *ask;             /* access to the records; its usage may be NULL */
        int64_t from_ns, to_ns;      /* INT64_MIN and INT64_MAX: now */
        bool ends_alone;             /* no person would end it: it ends itself TOP_GONE_S after the service is gone */
        const struct log *log;
};

struct top_feed;

/* An exit code, after its sentence. All of @options stays in use. */
int top_feed_open(const struct top_feed_options *options, struct top_feed **ret);
void top_feed_close(struct top_feed *feed);
enum top_kind top_feed_kind(const struct top_feed *feed);
/* True if it shows other users' apps as one row, or not at all. */
bool top_feed_own_only(const struct top_feed *feed);
/* 0; -ENODATA: there are no more recorded polls; -ETIMEDOUT: the service is gone; another negative errno. */
int top_feed_read(struct top_feed *feed, struct top_reading *ret);
