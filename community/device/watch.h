/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A suggestion for the owner, and the drain rates of this battery before and after it was followed: the
 * device's own evidence of the gain. It is stored in community.json and never sent.
 */

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"
#include "forecast/cost.h"

#define WATCHES_MAX 16
#define WATCH_SPANS_MIN 3 /* least number on either side */

/*
 * Sums over drain rates, in full charges per second, in the order of time: enough for their mean, its
 * variance, and the correlation of successive rates.
 */
struct watch_rates {
        double n, sum, squares, lagged; /* lagged: sum of the products of successive rates */
        double last;
};

/* How `act` followed a suggestion. */
enum watch_act {
        WATCH_NOT_ACTED,
        WATCH_CLOSED,
        WATCH_LIMITED,
        WATCH_UPDATED,
};

struct watch {
        enum finding_kind kind;       /* FINDING_RESTART only with an act, as it cannot be observed */
        char app[UPLOAD_NAME_MAX];
        char value[UPLOAD_TEXT_MAX]; /* the feature to change, or the least new version; "": to close the app */
        char was[UPLOAD_TEXT_MAX];    /* the feature's value, or the version, at the time of the suggestion */
        int64_t told_ns;
        int64_t until_ns;             /* spans before it are counted; INT64_MIN: none */
        int64_t since_ns;             /* it was followed by this time; 0: it was not */
        enum watch_act act;
        int64_t acted_ns;             /* 0: no act */
        struct watch_rates before, after;
};

extern const char *const watch_acts[]; /* words of community.json and JSON */

/* Records that the owner acted on it now. Spans since an earlier act no longer count. */
void watch_act(struct watch *watch, enum watch_act act, int64_t now_ns);

/* Mean drain rate in full charges per second. False: there are too few spans. */
bool watch_rate(const struct watch_rates *rates, double *ret);

/* Checks by the present version of the app, or value of the feature, whether the suggestion was followed. */
void watch_see(struct watch *watch, const char *now, int64_t now_ns);

/* Adds a span. @in_use: was the app in use? */
void watch_take(struct watch *watch, int64_t t_ns, double rate, bool in_use);

/*
 * Gain in minutes per full charge, 1 / after - 1 / before, with 95 % bounds by Student's t. Successive rates
 * are correlated, so their variance is larger by (1 + r) / (1 - r) with the correlation r. Returns false if
 * the suggestion was not followed, or there are too few spans.
 */
bool watch_gain(const struct watch *watch, struct cost_value *ret);

struct cJSON;
/* Reads a watch from community.json. Returns 0 or -EINVAL. */
int watch_from_json(const struct cJSON *json, struct watch *ret);
struct cJSON *watch_json(const struct watch *watch);
/* Place of the key's word in @words; @n: it is none of them. */
size_t watch_find_word(const struct cJSON *json, const char *key, const char *const *words, size_t n);
/* Returns 0; -EINVAL: it is no text, or too long. */
int watch_take_text(const struct cJSON *json, const char *key, char *ret, size_t size);
