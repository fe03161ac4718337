/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>

#include "client-sums.h"
#include "util/util.h"

#define NS_PER_DAY 86400000000000
#define WEIGHT_UNIT 16
#define WEIGHT_MAX (16 * WEIGHT_UNIT)
#define EFFECT_MAX 1
#define RELATIVE_MAX 3 /* of a and b */
#define COARSE_RATE_MAX (2 * RATE_MAX) /* of one step: 5 % within a minute */

void client_sums_clear(struct client_sums *sums)
{
        free(sums->rates);
        free(sums->apps);
        *sums = (struct client_sums){ .n = 0 };
}

/* Those that are asleep are last. */
static int compare_samples(const void *a, const void *b)
{
        const struct rate_sample *x = a, *y = b;

        if (x->asleep != y->asleep)
                return x->asleep ? 1 : -1;
        if (x->t_ns != y->t_ns)
                return x->t_ns < y->t_ns ? -1 : 1;
        if (x->t2_ns != y->t2_ns)
                return x->t2_ns < y->t2_ns ? -1 : 1;
        return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Leaves out what overlaps an earlier span (the same again, or a lie) and what is too much for a day. */
static size_t keep_valid(struct rate_sample *samples, size_t n, struct client_sums *sums)
{
        int64_t day = INT64_MIN, end_ns = INT64_MIN;
        size_t kept = 0, today = 0;

        for (size_t i = 0; i < n; i++) {
                int64_t this_day = samples[i].t_ns / NS_PER_DAY;

                if (samples[i].t_ns < end_ns) {
                        sums->overlapping++;
                        continue;
                }
                if (this_day != day)
                        today = 0;
                day = this_day;
                end_ns = samples[i].t2_ns;
                if (today++ >= CLIENT_DAY_MAX)
                        sums->too_many++;
                else
                        samples[kept++] = samples[i];
        }
        return kept;
}

static int32_t greatest_divisor(int32_t a, int32_t b)
{
        while (b) {
                int32_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

/* A gauge of 5 % shows only multiples of 5 %; of one that shows more, some readings are no multiple. */
static int32_t gauge_step(const struct rate_sample *samples, size_t n)
{
        int32_t step = 0, first = n ? samples[0].level_ppm : 0;
        bool moved = false;

        for (size_t i = 0; i < n; i++) {
                step = greatest_divisor(greatest_divisor(step, samples[i].level_ppm), samples[i].level2_ppm);
                moved |= samples[i].level_ppm != first || samples[i].level2_ppm != first;
        }
        if (!moved)
                return 1;
        return step % 100000 == 0 ? 100000 : step % 50000 == 0 ? 50000 : step % 10000 == 0 ? 10000 : 1;
}

/* 1e-9 of full per second, from ppm and ns. */
static int64_t rate_of(int64_t ppm, int64_t span_ns)
{
        return (int64_t)((wide)ppm * 1000000000000 / span_ns);
}

void client_sums_bounds(const struct rate_sample *sample, int32_t step_ppm, int64_t *low, int64_t *high)
{
        int64_t span_ns = sample->t2_ns - sample->t_ns, drop = sample->level_ppm - sample->level2_ppm;

        *low = rate_of(MAX(drop - step_ppm, 0), span_ns);
        *high = rate_of(drop + step_ppm, span_ns);
}

/*
 * -1: left out. A reading of a fine gauge cannot be faster than any battery empties. One of a coarse gauge can seem so, as
 * a whole step may fall into a short span; leaving out those would leave only the others, so spans are left out by
 * their length, whatever they show.
 */
static int64_t sample_rate(const struct rate_sample *sample, int32_t step)
{
        int64_t span_ns = sample->t2_ns - sample->t_ns, rate = rate_of(sample->level_ppm - sample->level2_ppm, span_ns);
        bool coarse = step >= COARSE_STEP_PPM;

        if (coarse && rate_of(step, span_ns) > COARSE_RATE_MAX)
                return -1;
        return rate <= (coarse ? 2 * COARSE_RATE_MAX : RATE_MAX) ? rate : -1;
}

/* One rate of one app. Sorted by app, the sums are a walk. */
struct app_rate {
        int64_t app;
        int32_t rate;
        uint32_t index; /* of the app in its sample */
        const struct rate_sample *sample;
};

static int compare_rates(const void *a, const void *b)
{
        const struct app_rate *x = a, *y = b;

        return x->app < y->app ? -1 : x->app > y->app;
}

static int add_rate(struct app_rate **list, size_t *n, size_t *capacity, const struct rate_sample *sample, int64_t rate)
{
        int err = util_grow(list, capacity, *n + sample->n_apps, sizeof(**list));

        for (size_t i = 0; !err && i < sample->n_apps; i++)
                (*list)[(*n)++] = (struct app_rate){ sample->apps[i], (int32_t)rate, (uint32_t)i, sample };
        return err;
}

/* Integers throughout: a sum is the same wherever it is made. */
static int64_t rounded(wide dividend, wide divisor)
{
        return (int64_t)((dividend + (dividend < 0 ? -divisor : divisor) / 2) / divisor);
}

/* w times a rate of sum / count, in parts of the client's mean of s1 / n. */
static int64_t weigh_relative(int64_t w, wide sum, wide count, int64_t n, int64_t s1)
{
        wide unit = count * s1;

        return rounded(MIN(sum * n, RELATIVE_MAX * unit) * w * CLIENT_SUMS_UNIT, unit);
}

void client_sums_weigh(struct app_sums *app, int64_t n, int64_t s1)
{
        int64_t without = n - app->n, rest = s1 - app->s1;
        wide effect, unit;

        app->w = app->wa = app->wb = app->x = 0;
        if (app->n <= 0 || without <= 0 || s1 <= 0)
                return;
        app->w = MIN(WEIGHT_UNIT * app->n * without / n, WEIGHT_MAX);
        app->wa = weigh_relative(app->w, app->s1, app->n, n, s1);
        app->wb = weigh_relative(app->w, rest, without, n, s1);
        effect = (wide)n * ((wide)app->s1 * without - (wide)rest * app->n);
        unit = (wide)app->n * without * s1;
        effect = MAX(MIN(effect, EFFECT_MAX * unit), -EFFECT_MAX * unit);
        app->x = rounded(effect * app->w * CLIENT_SUMS_UNIT, unit);
}

/* Its own energy in a sample, of which it is the app at @index; @ret_known: gets what there is more of that which has parts. */
static void add_own(struct app_sums *app, const struct rate_sample *sample, size_t index, int64_t *ret_known)
{
        int64_t own_mj = sample->own_mj ? sample->own_mj[index] : -1;
        bool known = false;

        if (own_mj < 0)
                return;
        app->own_n++;
        app->own_ms += (sample->t2_ns - sample->t_ns) / 1000000;
        app->own_mj += own_mj;
        for (size_t i = 0; i < sample->n_parts; i++) {
                int64_t key = sample->parts[2 * i];

                if (key / 256 == (int64_t)index && key % 256 < COMPONENT_COUNT) {
                        app->part_mj[key % 256] += MIN(sample->parts[2 * i + 1], own_mj); /* more is a lie */
                        known = true;
                }
        }
        *ret_known += known ? own_mj : 0;
}

/* Most samples do not say which parts an app's energy has: they count as those that do. */
static void extend_parts(struct app_sums *app, int64_t known_mj)
{
        for (int i = 0; i < COMPONENT_COUNT && known_mj > 0; i++)
                app->part_mj[i] = rounded((wide)app->part_mj[i] * app->own_mj, known_mj);
}

static int sum_apps(struct app_rate *list, size_t n, struct client_sums *sums)
{
        struct app_sums *app = NULL;
        int64_t known_mj = 0;

        if (n)
                qsort(list, n, sizeof(*list), compare_rates);
        for (size_t i = 0; i < n; i++) {
                if (!app || app->app != list[i].app) {
                        int err = util_grow(&sums->apps, &sums->capacity, sums->n_apps + 1, sizeof(*sums->apps));

                        if (err < 0)
                                return err;
                        app = &sums->apps[sums->n_apps++];
                        *app = (struct app_sums){ .app = list[i].app };
                        known_mj = 0;
                }
                app->n++;
                app->s1 += list[i].rate;
                app->s2 += (int64_t)list[i].rate * list[i].rate;
                app->ms += (list[i].sample->t2_ns - list[i].sample->t_ns) / 1000000;
                add_own(app, list[i].sample, list[i].index, &known_mj);
                if (i + 1 == n || list[i + 1].app != app->app)
                        extend_parts(app, known_mj);
        }
        for (size_t i = 0; i < sums->n_apps; i++)
                client_sums_weigh(&sums->apps[i], sums->n, sums->s1);
        return 0;
}

/* Suspended, a level falls by few steps in a long time, so only sums say how fast; none is faster than a battery can empty. */
static void sum_asleep(struct rate_sample *samples, size_t n, struct client_sums *sums)
{
        n = keep_valid(samples, n, sums);
        for (size_t i = 0; i < n; i++) {
                int64_t ppm = samples[i].level_ppm - samples[i].level2_ppm, span_ns = samples[i].t2_ns - samples[i].t_ns;

                if (rate_of(ppm, span_ns) > RATE_MAX) {
                        sums->fast++;
                        continue;
                }
                sums->asleep.n++;
                sums->asleep.ms += span_ns / 1000000;
                sums->asleep.ppm += ppm;
        }
}

/* Leaves the samples that have a rate, and their rates. */
static size_t keep_rates(struct rate_sample *samples, size_t n, struct client_sums *sums)
{
        size_t kept = 0, awake = n;

        if (n)
                qsort(samples, n, sizeof(*samples), compare_samples);
        while (awake > 0 && samples[awake - 1].asleep)
                awake--;
        sum_asleep(samples + awake, n - awake, sums);
        n = keep_valid(samples, awake, sums);
        sums->step_ppm = gauge_step(samples, n);
        for (size_t i = 0; i < n; i++) {
                int64_t rate = sample_rate(&samples[i], sums->step_ppm);

                if (rate < 0) {
                        sums->fast++;
                        continue;
                }
                samples[kept] = samples[i];
                sums->rates[kept++] = (int32_t)rate;
        }
        return kept;
}

static int sum_all(const struct rate_sample *samples, size_t n, struct client_sums *sums)
{
        _cleanup_free_ struct app_rate *list = NULL;
        size_t n_list = 0, capacity = 0;

        for (size_t i = 0; i < n; i++) {
                sums->n++;
                sums->s1 += sums->rates[i];
                sums->s2 += (int64_t)sums->rates[i] * sums->rates[i];
                if (add_rate(&list, &n_list, &capacity, &samples[i], sums->rates[i]) < 0)
                        return -ENOMEM;
        }
        return sum_apps(list, n_list, sums);
}

int client_sums_make(struct rate_sample *samples, size_t n, struct client_sums *ret)
{
        struct client_sums sums = { .rates = calloc(n + 1, sizeof(*sums.rates)) };
        int err;

        if (!sums.rates)
                return -ENOMEM;
        n = keep_rates(samples, n, &sums);
        err = sum_all(samples, n, &sums);
        if (err < 0)
                client_sums_clear(&sums);
        else
                *ret = sums;
        return err;
}
