/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>

#include "client-sums.h"
#include "order.h"
#include "util/util.h"

#define STEPS_MIN 4 /* fewer steps say less than all drops and times */
#define DISCHARGE_GAP_NS INT64_C(7200000000000) /* a longer gap ends a discharge */
#define COARSE_RATE_MAX (2 * RATE_MAX) /* largest rate of one step: 5 % within a minute */

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
        return ORDER_TWO(x->t2_ns, y->t2_ns, x->seq, y->seq);
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
        return (int64_t)wide_divide((wide)ppm * 1000000000000, span_ns);
}

void client_sums_bounds(const struct rate_sample *sample, int32_t step_ppm, int64_t *low, int64_t *high)
{
        int64_t span_ns = sample->t2_ns - sample->t_ns, drop = sample->level_ppm - sample->level2_ppm;

        *low = rate_of(MAX(drop - step_ppm, 0), span_ns);
        *high = rate_of(drop + step_ppm, span_ns);
}

/*
 * -1: left out. A reading of a fine gauge cannot be faster than any battery empties. One of a coarse gauge
 * can seem so, as a whole step may fall into a short span; leaving out those would leave only the others, so
 * spans are left out by their length, whatever they show.
 */
static int64_t sample_rate(const struct rate_sample *sample, int32_t step)
{
        int64_t span_ns = sample->t2_ns - sample->t_ns, rate = rate_of(sample->level_ppm - sample->level2_ppm, span_ns);
        bool coarse = step >= COARSE_STEP_PPM;

        if (coarse && rate_of(step, span_ns) > COARSE_RATE_MAX)
                return -1;
        return rate <= (coarse ? CLIENT_RATE_MAX : RATE_MAX) ? rate : -1;
}

/* One rate of one app. Sorted by app, the sums are a walk. */
struct app_rate {
        int64_t app;
        int32_t rate;
        uint32_t index; /* index of the app in its sample */
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
        return (int64_t)wide_divide(dividend + wide_divide(dividend < 0 ? -divisor : divisor, 2), divisor);
}

/*
 * Its own energy in a sample, of which it is the app at @index; @ret_known: gets what there is more of that
 * which has parts.
 */
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
        return 0;
}

/*
 * Suspended, a level falls by few steps in a long time, so only sums say how fast; none is faster than a
 * battery can empty.
 */
static void sum_asleep(struct rate_sample *samples, size_t n, struct client_sums *sums)
{
        n = keep_valid(samples, n, sums);
        for (size_t i = 0; i < n; i++) {
                int64_t ppm = samples[i].level_ppm - samples[i].level2_ppm,
                        span_ns = samples[i].t2_ns - samples[i].t_ns;

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
        if (awake < n)
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

/* Drop and time between the first step and the last one of a discharge, each in the middle of its sample. */
static void add_steps(const struct rate_sample *samples, size_t first, size_t end, wide *ppm, wide *ns)
{
        while (first < end && samples[first].level_ppm == samples[first].level2_ppm)
                first++;
        while (end > first && samples[end - 1].level_ppm == samples[end - 1].level2_ppm)
                end--;
        for (size_t i = first; i < end && end - first > 1; i++) {
                bool edge = i == first || i == end - 1;

                *ppm += (samples[i].level_ppm - samples[i].level2_ppm) / (edge ? 2 : 1);
                *ns += (samples[i].t2_ns - samples[i].t_ns) / (edge ? 2 : 1);
        }
}

/*
 * Mean rate of a coarse gauge: sums of drops by sums of time. A reading is up to a step off, and a discharge
 * that begins with a full charge begins at a step. So only what is between two steps counts; where that is too
 * little, it is all.
 */
static int64_t discharge_rate(const struct rate_sample *samples, size_t n, int32_t step_ppm)
{
        wide ppm = 0, ns = 0;

        for (size_t first = 0, i = 1; i <= n; i++)
                if (i == n || samples[i].level_ppm != samples[i - 1].level2_ppm ||
                    samples[i].t_ns - samples[i - 1].t2_ns > DISCHARGE_GAP_NS) {
                        add_steps(samples, first, i, &ppm, &ns);
                        first = i;
                }
        if (ppm < STEPS_MIN * (wide)step_ppm) {
                ppm = ns = 0;
                for (size_t i = 0; i < n; i++) {
                        ppm += samples[i].level_ppm - samples[i].level2_ppm;
                        ns += samples[i].t2_ns - samples[i].t_ns;
                }
        }
        return ns ? (int64_t)wide_divide(ppm * 1000000000000, ns) : 0;
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
        if (client_sums_coarse(sums))
                sums->s1 = sums->n * discharge_rate(samples, n, sums->step_ppm);
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
