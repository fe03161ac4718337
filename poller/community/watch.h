/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the owner was told to do, and how fast this battery drained before it was done and since: the device's own evidence of
 * what was gained. It is kept in community.json, and never sent.
 */

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"
#include "forecast/cost.h"

#define WATCHES_MAX 16
#define WATCH_SPANS_MIN 3 /* on either side: fewer say nothing */

/*
 * Rates of spans of discharge, as parts of a full charge a second, in the order of time: enough for their mean, its variance, and
 * how much a rate is like the one before it.
 */
struct watch_rates {
        double n, sum, squares, lagged; /* lagged: sum of the products of neighbours */
        double last;
};

struct watch {
        enum finding_kind kind;       /* not FINDING_RESTART, which nobody can see from here */
        char app[UPLOAD_NAME_MAX];
        char value[UPLOAD_TEXT_MAX];  /* the feature that is to change, or the version to have at least; "": to close it */
        char was[UPLOAD_TEXT_MAX];    /* the feature's value, or the version, when it was told */
        int64_t told_ns;
        int64_t until_ns;             /* spans up to here are in; INT64_MIN: none are */
        int64_t since_ns;             /* it was done by then; 0: it was not */
        struct watch_rates before, after;
};

/* The app's version, or the feature's value, is @now: was it done? */
void watch_see(struct watch *watch, const char *now, int64_t now_ns);

/* One more span. @in_use: was the app in use in it? */
void watch_take(struct watch *watch, int64_t t_ns, double rate, bool in_use);

/*
 * Minutes of a full charge that were gained, 1 / after - 1 / before, with 95 % bounds by Student's t; neighbours are alike, so
 * their variance is greater by (1 + r) / (1 - r) with their correlation r. False: it was not done, or there are too few spans.
 */
bool watch_gain(const struct watch *watch, struct cost_value *ret);

struct cJSON;
/* Of community.json. 0; -EINVAL. */
int watch_from_json(const struct cJSON *json, struct watch *ret);
struct cJSON *watch_json(const struct watch *watch);
