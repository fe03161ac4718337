/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "shown.h"
#include "util/quantile.h"
#include "util/util.h"

#define LEVEL 0.95
#define CORRELATION_MAX 0.9
#define EQUAL_MIN 2.0
#define RATE_MAX 1.0  /* fastest drain, in full charges per second */
#define SPANS_MAX 1e7 /* largest number that a file may contain */

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

void watch_act(struct watch *watch, enum watch_act act, int64_t now_ns)
{
        watch->act = act;
        watch->acted_ns = now_ns;
        watch->after = (struct watch_rates){ .n = 0 };
        /* A restart and a limit count from now; a close and an update from when they are seen (0: not yet). */
        watch->since_ns = watch->kind == FINDING_RESTART || act == WATCH_LIMITED ? now_ns : 0;
}

/* A closed app is not in use; if it is in use again, it does not count as closed. */
static void take_close(struct watch *watch, int64_t t_ns, double rate, bool in_use)
{
        if (in_use) {
                watch->since_ns = 0;
                watch->after = (struct watch_rates){ .n = 0 };
                add(&watch->before, rate);
        } else if (t_ns >= MAX(watch->told_ns, watch->acted_ns)) {
                if (!watch->since_ns)
                        watch->since_ns = t_ns;
                add(&watch->after, rate);
        }
}

void watch_take(struct watch *watch, int64_t t_ns, double rate, bool in_use)
{
        if (!(rate > 0 && rate <= RATE_MAX))
                return;
        if (watch->kind == FINDING_CLOSE && watch->act != WATCH_LIMITED)
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

bool watch_rate(const struct watch_rates *rates, double *ret)
{
        if (rates->n < WATCH_SPANS_MIN)
                return false;
        *ret = mean_of(rates);
        return true;
}

/*
 * Variance of the mean of correlated rates. @equal: effective number of independent rates. The correlation
 * estimated from few values is too small by (1 + 3 r) / n (Kendall 1954, for an unknown mean).
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

        if (!watch->since_ns || !watch_rate(after, &a) || !watch_rate(before, &b))
                return false;
        va = variance_of(after, &after_equal) / (a * a * a * a);
        vb = variance_of(before, &before_equal) / (b * b * b * b);
        /* Degrees of freedom by Welch and Satterthwaite. */
        degrees = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / (after_equal - 1) + vb * vb / (before_equal - 1)) :
                  1;
        error = sqrt(va + vb) * quantile_student_t(MAX(degrees, 1), LEVEL) / 60;
        ret->value = (1 / a - 1 / b) / 60;
        ret->low = ret->value - error;
        ret->high = ret->value + error;
        return isfinite(ret->value) && isfinite(error);
}

const char *const watch_acts[] = { [WATCH_NOT_ACTED] = "", [WATCH_CLOSED] = "close", [WATCH_LIMITED] = "limit",
                                   [WATCH_UPDATED] = "update" };
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

int watch_take_text(const struct cJSON *json, const char *key, char *ret, size_t size)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text && (size_t)snprintf(ret, size, "%s", text) < size ? 0 : -EINVAL;
}

/* Times are stored as texts, since a double cannot hold a time in ns exactly. */
static int take_time(const struct cJSON *json, const char *key, int64_t *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text && util_parse_i64(text, ret) == 0 ? 0 : -EINVAL;
}

size_t watch_find_word(const struct cJSON *json, const char *key, const char *const *words, size_t n)
{
        const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
        size_t at = 0;

        while (at < n && (!word || strcmp(words[at], word) != 0))
                at++;
        return at;
}

/* Both keys are missing where nothing was done. */
static int take_act(const struct cJSON *json, struct watch *watch)
{
        size_t at = watch_find_word(json, "act", watch_acts, ARRAY_SIZE(watch_acts));

        if (!cJSON_HasObjectItem(json, "act"))
                return watch->kind == FINDING_RESTART ? -EINVAL : 0;
        if (at == WATCH_NOT_ACTED || at == ARRAY_SIZE(watch_acts) ||
            take_time(json, "acted_ns", &watch->acted_ns) < 0 || watch->acted_ns <= 0)
                return -EINVAL;
        watch->act = (enum watch_act)at;
        return 0;
}

int watch_from_json(const struct cJSON *json, struct watch *ret)
{
        size_t at = watch_find_word(json, "do", shown_deeds, SHOWN_DEEDS);
        struct watch watch = { .kind = (enum finding_kind)at };

        if (at == SHOWN_DEEDS || take_act(json, &watch) < 0 ||
            watch_take_text(json, "app", watch.app, sizeof(watch.app)) < 0 || !*watch.app ||
            watch_take_text(json, "value", watch.value, sizeof(watch.value)) < 0 ||
            watch_take_text(json, "was", watch.was, sizeof(watch.was)) < 0 ||
            take_time(json, "told_ns", &watch.told_ns) < 0 || take_time(json, "until_ns", &watch.until_ns) < 0 ||
            take_time(json, "since_ns", &watch.since_ns) < 0 || watch.since_ns < 0 ||
            take_rates(cJSON_GetObjectItemCaseSensitive(json, "before"), &watch.before) < 0 ||
            take_rates(cJSON_GetObjectItemCaseSensitive(json, "after"), &watch.after) < 0)
                return -EINVAL;
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

        cJSON_AddStringToObject(json, "do", shown_deeds[watch->kind]);
        cJSON_AddStringToObject(json, "app", watch->app);
        cJSON_AddStringToObject(json, "value", watch->value);
        cJSON_AddStringToObject(json, "was", watch->was);
        add_time(json, "told_ns", watch->told_ns);
        add_time(json, "until_ns", watch->until_ns);
        add_time(json, "since_ns", watch->since_ns);
        if (watch->act) {
                cJSON_AddStringToObject(json, "act", watch_acts[watch->act]);
                add_time(json, "acted_ns", watch->acted_ns);
        }
        add_rates(json, "before", &watch->before);
        add_rates(json, "after", &watch->after);
        return json;
}
