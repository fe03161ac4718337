/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/usage-column.h"
#include "util/util.h"
#include "util/words.h"

static void span_clear(struct measured_span *span)
{
        for (size_t i = 0; i < span->n_owners; i++)
                usage_clear(&span->owners[i].usage);
        free(span->owners);
        *span = (struct measured_span){ 0 };
}

void measured_free(struct measured_trace *trace)
{
        if (!trace)
                return;
        for (size_t i = 0; i < trace->n; i++)
                span_clear(&trace->spans[i]);
        free(trace->frequencies.list);
        free(trace->spans);
        free(trace);
}

static int add_owner(struct measured_span *span, struct measured_owner *owner)
{
        struct measured_owner *grown;

        for (size_t i = 0; i < span->n_owners; i++) {
                struct measured_owner *own = &span->owners[i];

                if (own->base != owner->base ||
                    (!own->base && (own->state != owner->state || strcmp(own->name, owner->name) != 0)))
                        continue;
                own->active_s += owner->active_s;
                return usage_move(&own->usage, &owner->usage);
        }
        grown = reallocarray(span->owners, span->n_owners + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        span->owners = grown;
        grown[span->n_owners++] = *owner;
        owner->usage = (struct usage){ 0 };
        return 0;
}

/* Mean of two values, weighted by time; if one is unknown, the other one. */
static double mean(double a, double a_s, double b, double b_s)
{
        if (isnan(a) || isnan(b))
                return isnan(a) ? b : a;
        return (a * a_s + b * b_s) / (a_s + b_s);
}

int measured_join(struct measured_span *span, struct measured_span *more)
{
        int err = 0;

        span->voltage_mv = mean(span->voltage_mv, span->elapsed_s, more->voltage_mv, more->elapsed_s);
        span->temperature_c = mean(span->temperature_c, span->elapsed_s, more->temperature_c, more->elapsed_s);
        for (size_t c = 0; c < MEASURED_CHANNELS; c++)
                span->light[c] = mean(span->light[c], span->elapsed_s, more->light[c], more->elapsed_s);
        span->percent = more->percent;
        span->charge_uah = more->charge_uah;
        span->energy_j += more->energy_j;
        span->elapsed_s += more->elapsed_s;
        span->unknown |= more->unknown;
        for (size_t i = 0; i < MEASURED_RAILS_MAX; i++)
                span->rail_j[i] += more->rail_j[i];
        for (size_t i = 0; !err && i < more->n_owners; i++)
                err = add_owner(span, &more->owners[i]);
        span_clear(more);
        return err;
}

size_t measured_keep_known(struct measured_trace *trace, uint32_t *unknown)
{
        size_t n = 0, all = trace->n;

        *unknown = 0;
        for (size_t i = 0; i < all; i++) {
                struct measured_span *span = &trace->spans[i];

                *unknown |= span->unknown;
                if (span->unknown || !(span->energy_j > 0)) {
                        span_clear(span);
                        if (i + 1 < all)
                                trace->spans[i + 1].follows = false;
                        continue;
                }
                trace->spans[n++] = *span;
        }
        trace->n = n;
        return all - n;
}

int measured_shorten(struct measured_trace *trace, size_t most)
{
        double sum_s = 0;
        size_t n = 0;
        int err = 0;

        if (trace->n <= most)
                return 0;
        for (size_t i = 0; i < trace->n; i++)
                sum_s += trace->spans[i].elapsed_s;
        for (size_t i = 0; i < trace->n; i++) {
                struct measured_span *span = &trace->spans[i], *last = n > 0 ? &trace->spans[n - 1] : NULL;
                bool joins = !err && last && span->follows && span->by == last->by &&
                             last->elapsed_s < sum_s / (double)most;

                if (joins)
                        err = measured_join(last, span);
                else
                        trace->spans[n++] = *span;
        }
        trace->n = n;
        return err;
}

static bool is_other_event(const struct profile *profile, uint32_t policy, const char *event)
{
        const char *own;
        char section[32];

        snprintf(section, sizeof(section), "cpu %u", profile_as(profile, policy));
        own = profile_extra(profile, section, "x-miss_event");
        return own && event && strcmp(own, event) != 0;
}

static void drop_misses(struct points *counted, const struct profile *profile, const char *event)
{
        size_t n = 0;

        for (size_t i = 0; i < counted->n; i++)
                if (counted->list[i].key != COUNTED_MISSES || !is_other_event(profile, counted->list[i].policy, event))
                        counted->list[n++] = counted->list[i];
        counted->n = n;
}

void measured_drop_misses(struct measured_trace *trace, const struct profile *profile, const char *event)
{
        for (size_t i = 0; i < trace->n; i++)
                for (size_t k = 0; k < trace->spans[i].n_owners; k++)
                        drop_misses(&trace->spans[i].owners[k].usage.counted, profile, event);
}

int measured_sum(const struct measured_span *span, struct usage *ret)
{
        struct usage sum = { 0 };
        int err = 0;

        for (size_t i = 0; !err && i < span->n_owners; i++)
                err = usage_add(&sum, &span->owners[i].usage);
        if (err)
                usage_clear(&sum);
        else
                *ret = sum;
        return err;
}

const char *measured_words(uint32_t have, char *buf, size_t size)
{
        static const struct {
                uint32_t have;
                const char *word;
        } words[] = {
                { USAGE_CPU, "cpu" }, { USAGE_DISPLAY, "display" }, { USAGE_DISK, "disk" },
                { USAGE_WIFI, "wifi" }, { USAGE_GPU, "gpu" }, { USAGE_GPS, "gps" },
                { USAGE_AUDIO, "audio" }, { USAGE_CAMERA, "camera" },
                { USAGE_OTHER_NET, "other networks" }, { USAGE_PACKETS, "packets" },
                { USAGE_BLUETOOTH, "bluetooth" },
        };
        size_t length = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(words) && length < size; i++)
                if (have & words[i].have)
                        length += (size_t)snprintf(buf + length, size - length, "%s%s", length ? ", " : "",
                                                   words[i].word);
        return buf;
}

const char *measured_left_out(size_t n, uint32_t unknown, char *buf, size_t size)
{
        char words[128];

        if (unknown)
                snprintf(buf, size,
                         words_counted("%zu span is left out: its energy or %s is unknown (an empty cell; none is 0)",
                                       "%zu spans are left out: in each of them its energy or %s is unknown (an empty "
                                       "cell; none is 0)", n),
                         n, measured_words(unknown, words, sizeof(words)));
        else
                snprintf(buf, size, words_counted("%zu span is left out: its energy is unknown",
                                                  "%zu spans are left out: their energy is unknown", n), n);
        return buf;
}

static int name_policies(struct usage *usage, uint32_t (*policy)(uint32_t khz, const void *data), const void *data)
{
        struct points points = usage->cpu;
        int err = 0;

        usage->cpu = (struct points){ 0 };
        for (size_t i = 0; !err && i < points.n; i++) {
                if (points.list[i].policy == POLICY_UNKNOWN)
                        points.list[i].policy = policy(points.list[i].khz, data);
                err = usage_points_add(&usage->cpu, &points.list[i]);
        }
        free(points.list);
        return err;
}

int measured_name_policies(struct measured_trace *trace, uint32_t (*policy)(uint32_t khz, const void *data),
                           const void *data)
{
        int err = 0;

        for (size_t i = 0; i < trace->n; i++)
                for (size_t k = 0; !err && k < trace->spans[i].n_owners; k++)
                        err = name_policies(&trace->spans[i].owners[k].usage, policy, data);
        return err;
}
