/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/quantile.h"
#include "util/util.h"

#define LEVEL 0.95
#define CORRELATION_MAX 0.9
#define EQUAL_MIN 2.0
#define RATE_MAX 1.0  /* of a full charge a second */
#define SPANS_MAX 1e7 /* what a file can say */

void watch_see(struct watch *watch, const char *now, int64_t now_ns)
{
        bool done = *now && strcmp(now, watch->was) != 0;

        if (watch->kind == FINDING_CLOSE || watch->since_ns)
                return;
        if (done && watch->kind == FINDING_UPDATE)
                done = strverscmp(now, watch->value) >= 0;
        if (done)
                watch->since_ns = now_ns;
}

static void add(struct watch_rates *rates, double rate)
{
        if (rates->n > 0)
                rates->lagged += rates->last * rate;
        rates->n++;
        rates->sum += rate;
        rates->squares += rate * rate;
        rates->last = rate;
}

/* An app that was closed is not in use; who opens it again has not closed it. */
static void take_close(struct watch *watch, int64_t t_ns, double rate, bool in_use)
{
        if (in_use) {
                watch->since_ns = 0;
                watch->after = (struct watch_rates){ .n = 0 };
                add(&watch->before, rate);
        } else if (t_ns >= watch->told_ns) {
                if (!watch->since_ns)
                        watch->since_ns = t_ns;
                add(&watch->after, rate);
        }
}

void watch_take(struct watch *watch, int64_t t_ns, double rate, bool in_use)
{
        if (!(rate > 0 && rate <= RATE_MAX))
                return;
        if (watch->kind == FINDING_CLOSE)
                take_close(watch, t_ns, rate, in_use);
        else if (in_use && !watch->since_ns)
                add(&watch->before, rate);
        else if (in_use && t_ns >= watch->since_ns)
                add(&watch->after, rate);
}

static double mean_of(const struct watch_rates *rates)
{
        return rates->sum / rates->n;
}

/*
 * The variance of the mean; @equal: as many rates that are independent tell as much. A correlation of few is too small by
 * (1 + 3 r) / n (Kendall 1954, for a mean that is not known).
 */
static double variance_of(const struct watch_rates *rates, double *equal)
{
        double n = rates->n, mean = mean_of(rates), variance = MAX(rates->squares / n - mean * mean, 0), r;

        *equal = n;
        if (variance <= 0)
                return 0;
        r = (rates->lagged / (n - 1) - mean * mean) / variance;
        r = MIN(MAX(r + (1 + 3 * r) / n, 0), CORRELATION_MAX);
        *equal = MAX(n * (1 - r) / (1 + r), EQUAL_MIN);
        return variance / (*equal - 1);
}

bool watch_gain(const struct watch *watch, struct cost_value *ret)
{
        const struct watch_rates *before = &watch->before, *after = &watch->after;
        double a, b, va, vb, error, degrees, after_equal, before_equal;

        if (!watch->since_ns || before->n < WATCH_SPANS_MIN || after->n < WATCH_SPANS_MIN)
                return false;
        a = mean_of(after);
        b = mean_of(before);
        va = variance_of(after, &after_equal) / (a * a * a * a);
        vb = variance_of(before, &before_equal) / (b * b * b * b);
        /* Welch and Satterthwaite. */
        degrees = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / (after_equal - 1) + vb * vb / (before_equal - 1)) : 1;
        error = sqrt(va + vb) * quantile_student_t(MAX(degrees, 1), LEVEL) / 60;
        ret->value = (1 / a - 1 / b) / 60;
        ret->low = ret->value - error;
        ret->high = ret->value + error;
        return isfinite(ret->value) && isfinite(error);
}

static const char *const kinds[] = { [FINDING_CLOSE] = "close", [FINDING_SETTING] = "change", [FINDING_UPDATE] = "update" };
static const char *const members[] = { "n", "sum", "squares", "lagged", "last" };

static int take_rates(const struct cJSON *json, struct watch_rates *ret)
{
        double *const numbers[] = { &ret->n, &ret->sum, &ret->squares, &ret->lagged, &ret->last };

        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                const struct cJSON *item = cJSON_GetObjectItemCaseSensitive(json, members[i]);

                if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= SPANS_MAX))
                        return -EINVAL;
                *numbers[i] = item->valuedouble;
        }
        return ret->n == floor(ret->n) && (ret->n > 0) == (ret->sum > 0) ? 0 : -EINVAL;
}

static int take_text(const struct cJSON *json, const char *key, char *ret, size_t size)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text && (size_t)snprintf(ret, size, "%s", text) < size ? 0 : -EINVAL;
}

/* A text: a double has not all ns of a time. */
static int take_time(const struct cJSON *json, const char *key, int64_t *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text && util_parse_i64(text, ret) == 0 ? 0 : -EINVAL;
}

int watch_from_json(const struct cJSON *json, struct watch *ret)
{
        const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "do"));
        struct watch watch = { .kind = FINDING_CLOSE };
        size_t at = 0;

        while (at < ARRAY_SIZE(kinds) && (!kind || strcmp(kinds[at], kind) != 0))
                at++;
        if (at == ARRAY_SIZE(kinds) || take_text(json, "app", watch.app, sizeof(watch.app)) < 0 || !*watch.app ||
            take_text(json, "value", watch.value, sizeof(watch.value)) < 0 ||
            take_text(json, "was", watch.was, sizeof(watch.was)) < 0 ||
            take_time(json, "told_ns", &watch.told_ns) < 0 || take_time(json, "until_ns", &watch.until_ns) < 0 ||
            take_time(json, "since_ns", &watch.since_ns) < 0 || watch.since_ns < 0 ||
            take_rates(cJSON_GetObjectItemCaseSensitive(json, "before"), &watch.before) < 0 ||
            take_rates(cJSON_GetObjectItemCaseSensitive(json, "after"), &watch.after) < 0)
                return -EINVAL;
        watch.kind = (enum finding_kind)at;
        *ret = watch;
        return 0;
}

static void add_rates(struct cJSON *json, const char *key, const struct watch_rates *rates)
{
        const double numbers[] = { rates->n, rates->sum, rates->squares, rates->lagged, rates->last };
        struct cJSON *object = cJSON_AddObjectToObject(json, key);

        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                cJSON_AddNumberToObject(object, members[i], numbers[i]);
}

static void add_time(struct cJSON *json, const char *key, int64_t time_ns)
{
        char text[32];

        snprintf(text, sizeof(text), "%lld", (long long)time_ns);
        cJSON_AddStringToObject(json, key, text);
}

struct cJSON *watch_json(const struct watch *watch)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "do", kinds[watch->kind]);
        cJSON_AddStringToObject(json, "app", watch->app);
        cJSON_AddStringToObject(json, "value", watch->value);
        cJSON_AddStringToObject(json, "was", watch->was);
        add_time(json, "told_ns", watch->told_ns);
        add_time(json, "until_ns", watch->until_ns);
        add_time(json, "since_ns", watch->since_ns);
        add_rates(json, "before", &watch->before);
        add_rates(json, "after", &watch->after);
        return json;
}
