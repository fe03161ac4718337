/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From a trace to the device that is fitted: its policies with their frequencies, its screen, what it has. */

#include "trace-device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* Points of a policy; others in between share their time. */
#define FREQUENCIES_MAX 24

/* A clock that is this part of a span at none of the listed frequencies is at another one. */
#define COVERED 0.95

/* Time that a policy was at any frequency of the trace. */
static double covered_ns(const struct usage *usage, uint32_t policy)
{
        double sum = 0;

        for (size_t i = 0; i < usage->cpu.n; i++)
                if (usage->cpu.list[i].policy == policy)
                        sum += (double)usage->cpu.list[i].any_ns;
        for (size_t i = 0; i < usage->idle.n; i++)
                if (usage->idle.list[i].policy == policy)
                        sum += (double)usage->idle.list[i].idle_ns;
        return sum;
}

/*
 * Idling at the lowest frequency belongs to the base. If even the lowest one of the trace has a column of idle time,
 * and the policy was elsewhere in some span, there is a lower one without a column.
 */
static void add_lower(const struct measured_trace *trace, const struct usage *sums, uint32_t policy, uint32_t *list,
                      size_t *n)
{
        bool elsewhere = false;

        for (size_t i = 0; i < trace->n; i++)
                elsewhere = elsewhere || covered_ns(&sums[i], policy) < (1 - COVERED) * (double)sums[i].time_ns;
        if (!elsewhere || list[0] < 2)
                return;
        memmove(list + 1, list, *n * sizeof(*list));
        list[0] = list[1] / 2;
        ++*n;
}

static size_t count_voltages(const struct voltages *voltages)
{
        return voltages ? voltages->n : 0;
}

static int by_khz(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

/* A table of voltages belongs to a policy if it has all its frequencies; then it adds the policy's other ones. */
static void add_voltages(const struct voltages *voltages, uint32_t *list, size_t *n)
{
        size_t measured = *n, found = 0;

        for (size_t k = 0; k < measured; k++)
                for (size_t i = 0; i < count_voltages(voltages); i++)
                        found += voltages->list[i].khz == list[k];
        for (size_t i = 0; found == measured && i < count_voltages(voltages); i++)
                if (!bsearch(&voltages->list[i].khz, list, measured, sizeof(*list), by_khz))
                        list[(*n)++] = voltages->list[i].khz;
        qsort(list, *n, sizeof(*list), by_khz);
}

/* Adjacent frequencies are this far apart, or less: their ratio. */
#define STEP_MOST (1.15 * 1.15)

/*
 * Power is no straight line between two frequencies, so those that are far apart get others in between, whose power
 * follows the usual shape.
 */
static void add_between(uint32_t *list, size_t *n, size_t most)
{
        for (size_t k = 0; k + 1 < *n && *n < most;) {
                uint32_t low = list[k], high = list[k + 1];

                if (high <= STEP_MOST * low) {
                        k++;
                        continue;
                }
                memmove(list + k + 2, list + k + 1, (*n - k - 1) * sizeof(*list));
                list[k + 1] = low + (high - low) / 2;
                ++*n;
        }
}

static int make_policy(const struct trace_fit *options, const struct measured_trace *trace,
                       const struct usage *sums, size_t from, size_t to, struct device_policy *ret)
{
        const struct points *all = &trace->frequencies;
        size_t most = to - from + 1 + count_voltages(options->voltages) + FREQUENCIES_MAX, n = 0;
        _cleanup_free_ uint32_t *list = calloc(most, sizeof(*list));

        if (!list)
                return -ENOMEM;
        for (size_t i = from; i < to; i++)
                list[n++] = all->list[i].khz;
        add_voltages(options->voltages, list, &n);
        if (all->list[from].any_ns > 0)
                add_lower(trace, sums, all->list[from].policy, list, &n);
        columns_thin(list, &n, FREQUENCIES_MAX);
        add_between(list, &n, FREQUENCIES_MAX);
        *ret = (struct device_policy){ .policy = all->list[from].policy, .n_khz = n, .sharing = trace->shared ? 0 : 1 };
        memcpy(ret->khz, list, n * sizeof(*list));
        return 0;
}

static bool is_alike(const struct device_policy *a, const struct device_policy *b)
{
        return a->n_khz == b->n_khz && memcmp(a->khz, b->khz, a->n_khz * sizeof(a->khz[0])) == 0;
}

/* Policies with the same frequencies are of one kind, and have equal coefficients where there are too many. */
static int group_policies(const struct device_policy *list, size_t n, struct device *device)
{
        for (size_t i = 0; i < n; i++) {
                struct device_policy *group = device->policies;
                size_t at = 0;

                while (n > COLUMNS_POLICIES_MAX && at < device->n_policies && !is_alike(&group[at], &list[i]))
                        at++;
                if (n <= COLUMNS_POLICIES_MAX)
                        at = device->n_policies;
                if (at == COLUMNS_POLICIES_MAX || (at < device->n_policies &&
                                                   group[at].n_members == COLUMNS_MEMBERS_MAX))
                        return -E2BIG;
                if (at == device->n_policies) {
                        group[device->n_policies++] = list[i];
                        if (n <= COLUMNS_POLICIES_MAX)
                                continue;
                }
                group[at].members[group[at].n_members++] = (struct device_member){ .policy = list[i].policy };
        }
        return 0;
}

static int make_policies(const struct trace_fit *options, const struct measured_trace *trace,
                         const struct usage *sums, struct device *device)
{
        const struct points *all = &trace->frequencies;
        _cleanup_free_ struct device_policy *list = calloc(all->n + 1, sizeof(*list));
        size_t n = 0;
        int err = list ? 0 : -ENOMEM;

        for (size_t from = 0, to; !err && from < all->n; from = to) {
                for (to = from + 1; to < all->n && all->list[to].policy == all->list[from].policy;)
                        to++;
                err = make_policy(options, trace, sums, from, to, &list[n++]);
        }
        return err ? err : group_policies(list, n, device);
}

/* Bytes whose rate stays within this part of its mean cannot be told from the base. */
#define SAME_RATE 0.1

/* Over a modem or a cable. */
static bool bytes_vary(const struct usage *sums, size_t n)
{
        double sum = 0, squares = 0;

        for (size_t i = 0; i < n; i++) {
                double rate = (double)(sums[i].other_rx_bytes + sums[i].other_tx_bytes) / (double)sums[i].time_ns;

                sum += rate;
                squares += rate * rate;
        }
        return sum > 0 && squares / (double)n > (1 + SAME_RATE * SAME_RATE) * pow(sum / (double)n, 2);
}

int trace_device(const struct trace_fit *options, const struct measured_trace *trace, const struct usage *sums,
                 struct device *device)
{
        enum measured_by by = MEASURED_BY_METER;

        *device = (struct device){ .energy_full_mwh = options->energy_full_mwh,
                                   .prices_bytes = bytes_vary(sums, trace->n),
                                   .voltages = options->voltages };
        if (options->cache_event)
                snprintf(device->miss_event, sizeof(device->miss_event), "%s", options->cache_event);
        for (size_t i = 0; i < trace->n; i++) {
                device->max_brightness = MAX(device->max_brightness, measured_brightest(&sums[i]));
                by = MAX(by, trace->spans[i].by);
        }
        snprintf(device->name, sizeof(device->name), "%s", options->name);
        snprintf(device->method, sizeof(device->method), "%s",
                 by == MEASURED_BY_METER ? "gauge" : by == MEASURED_BY_CHARGE ? "ticks" : "percent");
        if (trace->idle)
                columns_device_idle(device, options->idle_states);
        return make_policies(options, trace, sums, device);
}
