/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "client-rates.h"
#include "order.h"
#include "util/util.h"

#define NUMBER_MAX 10 /* bytes of 64 bits */
#define OWN_MAX (INT64_MAX / 2) /* any energy and time that uploads can amount to is far below */
/* squared coefficients of variation: what rates of spans mostly have, and more than which is no honest use */
#define USUAL_SPREAD 0.1
#define SPREAD_MAX 1.0
#define APP_MAX (8 + (5 + 2 * COMPONENT_COUNT) * NUMBER_MAX)

void client_rates_clear(struct client_rates *rates)
{
        free(rates->apps);
        free(rates->contexts);
        free(rates->list);
        free(rates->tallies);
        free(rates->uses);
        free(rates->errors);
        *rates = (struct client_rates){ .n = 0 };
}

static int compare_ids(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

        return x < y ? -1 : x > y;
}

/* Each context once, ascending. */
static int list_contexts(const struct rate_sample *samples, size_t n, int64_t **ret, size_t *ret_n)
{
        int64_t *list = calloc(n + 1, sizeof(*list));
        size_t kept = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                list[i] = samples[i].context;
        qsort(list, n, sizeof(*list), compare_ids);
        for (size_t i = 0; i < n; i++)
                if (!kept || list[kept - 1] != list[i])
                        list[kept++] = list[i];
        *ret = list;
        *ret_n = kept;
        return 0;
}

static int64_t time_of_day(const struct rate_sample *sample)
{
        return (sample->t_ns + (sample->t2_ns - sample->t_ns) / 2) % NS_PER_DAY;
}

static int compare_hours(const void *a, const void *b, void *data)
{
        const struct rate_sample *samples = data;
        size_t i = *(const size_t *)a, j = *(const size_t *)b;
        int64_t x = time_of_day(&samples[i]), y = time_of_day(&samples[j]);

        return ORDER_TWO(x, y, i, j);
}

static size_t *order_hours(const struct rate_sample *samples, size_t n)
{
        size_t *order = calloc(n + 1, sizeof(*order));

        for (size_t i = 0; order && i < n; i++)
                order[i] = i;
        if (order && n)
                qsort_r(order, n, sizeof(*order), compare_hours, (void *)(uintptr_t)samples);
        return order;
}

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
        for (; value >= 0x80; value >>= 7)
                *at++ = (uint8_t)(value | 0x80);
        *at++ = (uint8_t)value;
        return at;
}

static uint8_t *put_id(uint8_t *at, int64_t id)
{
        uint64_t wire = htole64((uint64_t)id);

        memcpy(at, &wire, sizeof(wire));
        return at + sizeof(wire);
}

static uint8_t *put_app(uint8_t *at, const struct app_sums *app)
{
        uint64_t n_parts = 0;

        at = put_number(put_id(at, app->app), (uint64_t)app->ms);
        at = put_number(at, (uint64_t)app->own_n);
        if (!app->own_n)
                return at;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                n_parts += app->part_mj[i] > 0;
        at = put_number(put_number(at, (uint64_t)app->own_ms), (uint64_t)app->own_mj);
        at = put_number(at, n_parts);
        for (int i = 0; i < COMPONENT_COUNT; i++)
                if (app->part_mj[i] > 0)
                        at = put_number(put_number(at, (uint64_t)i), (uint64_t)app->part_mj[i]);
        return at;
}

/* Both lists are ascending. */
static void set_bits(uint8_t *bits, const struct rate_sample *sample, const struct client_sums *sums)
{
        size_t app = 0;

        for (size_t i = 0; i < sample->n_apps; i++) {
                while (app < sums->n_apps && sums->apps[app].app < sample->apps[i])
                        app++;
                bits[app / 8] |= (uint8_t)(1 << app % 8);
        }
}

int client_rates_pack(const struct rate_sample *samples, const struct client_sums *sums, uint8_t **ret,
                      size_t *ret_length)
{
        _cleanup_free_ int64_t *contexts = NULL;
        size_t n = (size_t)sums->n, n_contexts, mask = (sums->n_apps + 7) / 8;
        _cleanup_free_ size_t *order = order_hours(samples, n);
        uint8_t *bytes, *at;

        if (!order || list_contexts(samples, n, &contexts, &n_contexts) < 0)
                return -ENOMEM;
        bytes = calloc(3 * NUMBER_MAX + 1 + sums->n_apps * APP_MAX + n_contexts * 8 + n * (4 * NUMBER_MAX + mask), 1);
        if (!bytes)
                return -ENOMEM;
        at = put_number(bytes, sums->n_apps);
        for (size_t i = 0; i < sums->n_apps; i++)
                at = put_app(at, &sums->apps[i]);
        at = put_number(at, n_contexts);
        for (size_t i = 0; i < n_contexts; i++)
                at = put_id(at, contexts[i]);
        *at++ = client_sums_coarse(sums);
        at = put_number(at, n);
        for (size_t i = 0; i < n; i++) {
                const struct rate_sample *sample = &samples[order[i]];

                at = put_number(at, (uint64_t)sums->rates[order[i]]);
                if (client_sums_coarse(sums)) {
                        int64_t low, high;

                        client_sums_bounds(sample, sums->step_ppm, &low, &high);
                        at = put_number(put_number(at, (uint64_t)low), (uint64_t)high);
                }
                at = put_number(at, util_lower_bound(&sample->context, contexts, n_contexts, sizeof(*contexts),
                                                     compare_ids));
                set_bits(at, sample, sums);
                at += mask;
        }
        *ret = bytes;
        *ret_length = (size_t)(at - bytes);
        return 0;
}

struct reader {
        const uint8_t *at, *end;
        bool bad;
};

/* At most @max. */
static uint64_t take_number(struct reader *reader, uint64_t max)
{
        uint64_t value = 0;

        for (int shift = 0; reader->at < reader->end && shift < 63; shift += 7) {
                uint8_t byte = *reader->at++;

                value |= (uint64_t)(byte & 0x7F) << shift;
                if (byte < 0x80) {
                        reader->bad |= value > max;
                        return reader->bad ? 0 : value;
                }
        }
        reader->bad = true;
        return 0;
}

static int64_t take_id(struct reader *reader)
{
        uint64_t wire;

        if (reader->end - reader->at < (ptrdiff_t)sizeof(wire)) {
                reader->bad = true;
                return 0;
        }
        memcpy(&wire, reader->at, sizeof(wire));
        reader->at += sizeof(wire);
        return (int64_t)le64toh(wire);
}

/* How many there are, each of which has @size bytes or more. */
static size_t take_count(struct reader *reader, size_t size)
{
        return (size_t)take_number(reader, (uint64_t)(reader->end - reader->at) / size);
}

static void take_own(struct reader *reader, struct app_sums *app)
{
        uint64_t n_parts;
        int last = -1;

        app->own_ms = (int64_t)take_number(reader, OWN_MAX);
        app->own_mj = (int64_t)take_number(reader, OWN_MAX);
        n_parts = take_number(reader, COMPONENT_COUNT);
        for (uint64_t i = 0; i < n_parts; i++) {
                int part = (int)take_number(reader, COMPONENT_COUNT - 1);

                app->part_mj[part] = (int64_t)take_number(reader, OWN_MAX);
                reader->bad |= part <= last;
                last = part;
        }
}

static int take_apps(struct reader *reader, struct client_rates *rates)
{
        rates->n_apps = take_count(reader, 8 + 2);
        if (util_grow(&rates->apps, &rates->apps_capacity, rates->n_apps + 1, sizeof(*rates->apps)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n_apps; i++) {
                struct app_sums *app = &rates->apps[i];

                *app = (struct app_sums){ .app = take_id(reader) };
                app->ms = (int64_t)take_number(reader, OWN_MAX);
                app->own_n = (int64_t)take_number(reader, OWN_MAX);
                if (app->own_n)
                        take_own(reader, app);
                reader->bad |= i > 0 && app->app <= app[-1].app;
        }
        return 0;
}

static int take_contexts(struct reader *reader, struct client_rates *rates)
{
        rates->n_contexts = take_count(reader, 8);
        if (util_grow(&rates->contexts, &rates->contexts_capacity, rates->n_contexts + 1, sizeof(*rates->contexts)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n_contexts; i++)
                rates->contexts[i] = take_id(reader);
        return 0;
}

/* Bits beyond the last app are none. */
static const uint8_t *take_bits(struct reader *reader, size_t n_apps)
{
        size_t mask = (n_apps + 7) / 8;
        const uint8_t *bits = reader->at;

        if ((size_t)(reader->end - reader->at) < mask || (n_apps % 8 && bits[mask - 1] >> n_apps % 8)) {
                reader->bad = true;
                return NULL;
        }
        reader->at += mask;
        return bits;
}

static int take_rates(struct reader *reader, struct client_rates *rates)
{
        rates->n = take_count(reader, 2 + (rates->n_apps + 7) / 8);
        if (util_grow(&rates->list, &rates->list_capacity, rates->n + 1, sizeof(*rates->list)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n && !reader->bad; i++) {
                struct client_rate *rate = &rates->list[i];

                *rate = (struct client_rate){ .rate = (int32_t)take_number(reader, CLIENT_RATE_MAX) };
                if (rates->coarse) {
                        rate->low = (int32_t)take_number(reader, INT32_MAX);
                        rate->high = (int32_t)take_number(reader, INT32_MAX);
                }
                rate->context = (uint32_t)take_number(reader, rates->n_contexts ? rates->n_contexts - 1 : 0);
                rate->apps = take_bits(reader, rates->n_apps);
        }
        reader->bad |= rates->n > 0 && rates->n_contexts == 0;
        return 0;
}

/* A coarse gauge's rate is one step within its time, give or take: high - rate is the step's. */
static void set_spans(struct client_rates *rates)
{
        double sum = 0;

        for (size_t i = 0; i < rates->n; i++) {
                struct client_rate *rate = &rates->list[i];

                rate->span = rates->coarse ? 1 / (float)MAX(rate->high - rate->rate, 1) : 1;
                sum += (double)rate->span;
        }
        for (size_t i = 0; i < rates->n; i++)
                rates->list[i].span *= (float)((double)rates->n / sum);
}

int client_rates_read(const uint8_t *bytes, size_t length, struct client_rates *rates)
{
        struct reader reader = { .at = bytes, .end = bytes + length };
        int err = take_apps(&reader, rates);

        if (!err)
                err = take_contexts(&reader, rates);
        rates->coarse = take_number(&reader, 1);
        if (!err)
                err = take_rates(&reader, rates);
        if (!err && !reader.bad)
                set_spans(rates);
        return err ? err : reader.bad || reader.at != reader.end ? -EBADMSG : 0;
}

static int compare_strata(const void *a, const void *b)
{
        const struct client_rate *x = a, *y = b;

        /* rates are packed in this order */
        return ORDER_TWO(x->stratum, y->stratum, x->apps, y->apps);
}

void client_rates_stratify(struct client_rates *rates, const uint32_t *strata)
{
        bool sorted = true;

        for (size_t i = 0; i < rates->n; i++) {
                rates->list[i].stratum = strata[rates->list[i].context];
                sorted &= i == 0 || rates->list[i - 1].stratum <= rates->list[i].stratum;
        }
        if (!sorted)
                qsort(rates->list, rates->n, sizeof(*rates->list), compare_strata);
}

/*
 * A coarse gauge's rates scatter by its steps, too: a drop has the errors of two readings, each anywhere within a step.
 * With the variance, weights of a mean go down (METHOD.md).
 */
struct rates_noise client_rates_noise(const struct client_rates *rates)
{
        struct rates_noise noise = { .discount = 1 };
        double n = 0, s = 0, ss = 0, steps = 0;

        for (size_t i = 0; i < rates->n; i++) {
                double span = (double)rates->list[i].span, rate = rates->list[i].rate,
                       step = rates->coarse ? rates->list[i].high - rate : 0;

                n += span;
                s += span * rate;
                ss += span * rate * rate;
                steps += span * step * step / 6;
        }
        if (!(s > 0))
                return noise;
        noise.mean = s / n;
        noise.spread = MAX(ss * n / (s * s) - 1, 0);
        noise.discount = USUAL_SPREAD / (USUAL_SPREAD + steps * n / (s * s));
        if (noise.spread > SPREAD_MAX)
                noise.discount *= SPREAD_MAX / noise.spread;
        return noise;
}

/* Adds a rate to each app that was in use. */
static void add_rate(struct client_rates *rates, const struct client_rate *rate)
{
        for (size_t byte = 0; byte < (rates->n_apps + 7) / 8; byte++)
                for (unsigned bits = rate->apps[byte]; bits; bits &= bits - 1) {
                        size_t i = byte * 8 + (size_t)__builtin_ctz(bits);
                        struct app_sums *app = &rates->apps[i];

                        app->n++;
                        app->s1 += rate->rate;
                        app->s2 += (int64_t)rate->rate * rate->rate;
                        rates->tallies[i].n += (double)rate->span;
                        rates->tallies[i].s += (double)rate->span * rate->rate;
                }
}

/* Ends a stratum of @n rates (by span) with sum @s. */
static void end_stratum(struct client_rates *rates, double n, double s)
{
        for (size_t i = 0; i < rates->n_apps; i++) {
                struct app_tally *tally = &rates->tallies[i];

                drop_stratum(tally->n, tally->s, n, s, &tally->weight, &tally->more);
                tally->all_n += tally->n;
                tally->all_s += tally->s;
                tally->n = tally->s = 0;
        }
}

/* @n: number of all rates, by span. */
static void end_sums(struct client_rates *rates, double n)
{
        const struct rates_noise noise = client_rates_noise(rates);

        rates->mean = noise.mean;
        for (size_t i = 0; i < rates->n_apps; i++) {
                const struct app_tally *tally = &rates->tallies[i];

                rates->uses[i] = drop_use_of(tally->weight, tally->more, tally->all_n, tally->all_s, n, noise.mean,
                                             noise.discount);
                rates->errors[i] = sqrt(noise.spread / tally->weight);
        }
}

int client_rates_sum(struct client_rates *rates, int64_t *ret_s1, int64_t *ret_s2)
{
        double n = 0, s = 0, all_n = 0;
        int64_t s1 = 0, s2 = 0;

        if (util_grow(&rates->tallies, &rates->tallies_capacity, rates->n_apps + 1, sizeof(*rates->tallies)) < 0 ||
            util_grow(&rates->uses, &rates->uses_capacity, rates->n_apps + 1, sizeof(*rates->uses)) < 0 ||
            util_grow(&rates->errors, &rates->errors_capacity, rates->n_apps + 1, sizeof(*rates->errors)) < 0)
                return -ENOMEM;
        memset(rates->tallies, 0, (rates->n_apps + 1) * sizeof(*rates->tallies));
        for (size_t i = 0; i < rates->n; i++) {
                const struct client_rate *rate = &rates->list[i];

                s1 += rate->rate;
                s2 += (int64_t)rate->rate * rate->rate;
                n += (double)rate->span;
                s += (double)rate->span * rate->rate;
                add_rate(rates, rate);
                if (i + 1 < rates->n && rate[1].stratum == rate->stratum)
                        continue;
                end_stratum(rates, n, s);
                all_n += n;
                n = s = 0;
        }
        end_sums(rates, all_n);
        *ret_s1 = s1;
        *ret_s2 = s2;
        return 0;
}
