/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay-score.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/cost.h"
#include "measured/baseline.h"
#include "util/units.h"
#include "util/util.h"

void replay_clear(struct replay *replay)
{
        for (size_t i = 0; i < replay->n_not_measured; i++)
                free(replay->not_measured[i]);
        free(replay->not_measured);
        free(replay->windows);
        *replay = (struct replay){ 0 };
}

static int name_part(struct replay *replay, const char *name)
{
        char **grown;

        for (size_t i = 0; i < replay->n_not_measured; i++)
                if (strcmp(replay->not_measured[i], name) == 0)
                        return 0;
        grown = reallocarray(replay->not_measured, replay->n_not_measured + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        replay->not_measured = grown;
        grown[replay->n_not_measured] = strdup(name);
        return grown[replay->n_not_measured++] ? 0 : -ENOMEM;
}

/* Names amounts that the profile prices and for which the trace has no column, though it has others of that kind. */
static int name_missing(const struct profile *profile, const struct measured_trace *trace, struct replay *replay)
{
        int err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++) {
                const struct amount_kind *kind = &amount_kinds[i];
                char name[128];

                if (!(trace->have & kind->have) || trace->amounts & UINT64_C(1) << i || kind->term == TERM_NONE ||
                    profile_find(profile, kind->term, 0, 0, "") < 0)
                        continue;
                snprintf(name, sizeof(name), "%s.%s (not counted)", term_keys[kind->term].section,
                         term_keys[kind->term].key);
                err = name_part(replay, name);
        }
        if (!err && (trace->cellular || trace->have & USAGE_OTHER_NET) &&
            profile_find(profile, TERM_CELLULAR_RX, 0, 0, "") < 0 &&
            profile_find(profile, TERM_CELLULAR_TX, 0, 0, "") < 0)
                err = name_part(replay, "cellular.bytes (no price)");
        return err;
}

static int add_span(struct cost_maker *maker, const struct measured_span *span)
{
        int err = 0;

        for (size_t i = 0; !err && i < span->n_owners; i++) {
                const struct measured_owner *owner = &span->owners[i];
                struct store_row row = { .app = owner->base ? "" : owner->name, .name = owner->name,
                                         .state = owner->state,
                                         .usage = &owner->usage,
                                         .active_ns = (uint64_t)(fmin(owner->active_s, 9e9) * NS_PER_S) };

                err = cost_maker_add(maker, &row);
        }
        return err;
}

static void add_components(const struct cost *cost, struct replay_window *window)
{
        window->component_j[COMPONENT_BASE] = cost->base_idle_j;
        window->component_j[COMPONENT_WIFI] = cost->base_wifi_j;
        window->component_j[COMPONENT_DISPLAY] = cost->base_display_j;
        for (size_t i = 0; i < cost->n_apps; i++)
                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        window->component_j[c] += cost->apps[i].component_j[c];
}

/* Prices @maker, which has all rows of the window. */
static int end_window(const struct profile *profile, struct cost_maker *maker, struct replay_window *window,
                      struct replay *replay)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err = cost_maker_finish(maker, profile, NULL, &cost);
        struct cost_value total_j;

        for (size_t i = 0; !err && i < cost->n_not_measured; i++)
                err = name_part(replay, cost->not_measured[i]);
        if (err)
                return err;
        if (isnan(cost->total_j.value) || isnan(cost->base_j)) {
                replay->n_unpriced++;
                return 0;
        }
        total_j = cost_joules(&cost->total_j, window->own_level ? 0 : cost->joule_part);
        window->predicted_j = total_j.value;
        window->low_j = total_j.low;
        window->high_j = total_j.high;
        add_components(cost, window);
        replay->windows[replay->n++] = *window;
        return 0;
}

static void add_measured(const struct measured_span *span, const struct baseline *baseline,
                         struct replay_window *window)
{
        window->measured_j += span->energy_j;
        window->own_level = window->own_level && span->by != MEASURED_BY_METER;
        window->constant_j += baseline->constant_j;
        window->least_squares_j += baseline->least_squares_j;
        for (size_t r = 0; r < MEASURED_RAILS_MAX; r++)
                window->rail_j[r] += span->rail_j[r];
}

/* Rounding of decimal seconds. */
#define ROUNDING 1e-9

/* Joins spans to windows; an incomplete window at the end counts only if there is no other. */
static int make_windows(const struct profile *profile, const struct measured_trace *trace,
                        const struct baseline *baselines,
                        double window_s, struct replay *replay)
{
        int err = 0;
        bool any = false;

        for (size_t i = 0, to; !err && i < trace->n; i = to) {
                _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
                struct replay_window window = { .own_level = true };
                double seconds = 0;

                err = cost_maker_new(&maker);
                for (to = i; !err && to < trace->n && (to == i || seconds < window_s * (1 - ROUNDING)); to++) {
                        seconds += trace->spans[to].elapsed_s;
                        add_measured(&trace->spans[to], &baselines[to], &window);
                        err = add_span(maker, &trace->spans[to]);
                }
                if (!err && any && seconds < window_s * (1 - ROUNDING))
                        break;
                any = true;
                if (!err)
                        err = end_window(profile, maker, &window, replay);
        }
        return err;
}

static int ascending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Sorts @list; the quantile is interpolated linearly, as is usual. NaN: the list is empty. */
static double quantile(double *list, size_t n, double part)
{
        double at = part * (double)(n - 1);
        size_t low = (size_t)floor(fmax(at, 0));

        if (n == 0)
                return NAN;
        qsort(list, n, sizeof(*list), ascending);
        return low + 1 < n ? list[low] + (at - (double)low) * (list[low + 1] - list[low]) : list[n - 1];
}

/* @predicted: the offset of a double in a window. */
static void find_error(const struct replay *replay, size_t predicted, double *scratch, struct replay_error *ret)
{
        double sum = 0, measured = 0;
        size_t n = 0;

        for (size_t i = 0; i < replay->n; i++) {
                const struct replay_window *window = &replay->windows[i];
                double value = *(const double *)(const void *)((const char *)window + predicted);

                if (isnan(value))
                        continue;
                scratch[n++] = 100 * fabs(value / window->measured_j - 1);
                sum += value;
                measured += window->measured_j;
        }
        ret->median = quantile(scratch, n, 0.5);
        ret->p90 = quantile(scratch, n, 0.9);
        ret->bias = n > 0 ? 100 * (sum / measured - 1) : NAN;
}

static void find_intervals(struct replay *replay, double *scratch)
{
        size_t n = 0, held = 0;

        for (size_t i = 0; i < replay->n; i++) {
                const struct replay_window *window = &replay->windows[i];

                if (isnan(window->low_j) || !(window->predicted_j > 0))
                        continue;
                held += window->low_j <= window->measured_j && window->measured_j <= window->high_j;
                scratch[n++] = 100 * (window->high_j - window->low_j) / 2 / window->predicted_j;
        }
        replay->hold_percent = n > 0 ? 100 * (double)held / (double)n : NAN;
        replay->half_width_percent = quantile(scratch, n, 0.5);
}

static void find_rail(const struct replay *replay, size_t at, struct replay_rail *rail)
{
        double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = 0;

        for (size_t i = 0; i < replay->n; i++) {
                double measured = replay->windows[i].rail_j[at];
                double predicted = rail->component < 0 ? NAN : replay->windows[i].component_j[rail->component];
                double dx = measured - x, dy = predicted - y;

                if (isnan(measured) || (isnan(predicted) && rail->component >= 0))
                        continue;
                n++;
                x += dx / n;
                y += dy / n;
                xx += dx * (measured - x);
                yy += dy * (predicted - y);
                xy += dx * (predicted - y);
        }
        rail->measured_j = n > 0 ? x * n : NAN;
        rail->predicted_j = n > 0 ? y * n : NAN;
        rail->correlation = n > 2 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static void find_rails(const struct measured_trace *trace, struct replay *replay)
{
        for (size_t r = 0; r < trace->n_rails; r++) {
                const char *word = trace->rails[r];
                struct replay_rail *rail = &replay->rails[replay->n_rails++];

                *rail = (struct replay_rail){ .word = word, .component = component_find(word, strlen(word)) };
                find_rail(replay, r, rail);
        }
}

static uint32_t find_policy(uint32_t khz, const void *profile)
{
        return cost_policy_with(profile, khz);
}

int replay_make(const struct profile *profile, struct measured_trace *trace, const struct measured_trace *baseline,
                double window_s, struct replay *ret)
{
        _cleanup_free_ struct baseline *baselines = calloc(trace->n + 1, sizeof(*baselines));
        _cleanup_free_ double *scratch = calloc(trace->n + 1, sizeof(*scratch));
        struct measured_colours colours;
        struct replay replay = { .windows = calloc(trace->n + 1, sizeof(*replay.windows)) };
        int err = baselines && scratch && replay.windows ? 0 : -ENOMEM;

        if (!err)
                err = baseline_make(trace, baseline, baselines);
        if (!err && measured_colours_of(profile, &colours))
                measured_show(trace, &colours);
        if (!err)
                err = measured_name_policies(trace, find_policy, profile);
        if (!err)
                err = make_windows(profile, trace, baselines, window_s, &replay);
        if (!err)
                err = name_missing(profile, trace, &replay);
        if (err) {
                replay_clear(&replay);
                return err;
        }
        find_error(&replay, offsetof(struct replay_window, predicted_j), scratch, &replay.error);
        find_error(&replay, offsetof(struct replay_window, constant_j), scratch, &replay.constant);
        find_error(&replay, offsetof(struct replay_window, least_squares_j), scratch, &replay.least_squares);
        find_intervals(&replay, scratch);
        find_rails(trace, &replay);
        *ret = replay;
        return 0;
}
