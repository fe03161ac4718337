/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A usage as a row: how much of each coefficient it has. */

#include <math.h>
#include <string.h>

#include "columns-private.h"
#include "util/units.h"
#include "util/util.h"

bool columns_row_kind(const struct device_policy *policy, const struct points *counted,
                      double sum[COUNTED_COUNT])
{
        for (size_t i = 0; i < counted->n; i++)
                if (columns_device_has(policy, counted->list[i].policy) && counted->list[i].key < COUNTED_COUNT)
                        sum[counted->list[i].key] += (double)counted->list[i].amount;
        return sum[COUNTED_CYCLES] > 0 && sum[COUNTED_INSTRUCTIONS] > 0;
}

/* Splits @amount linearly over the two points around @point, among columns first..first+n-1. */
static void spread(const struct columns *columns, size_t first, size_t n, uint32_t point, double amount,
                   double *row)
{
        const struct coefficient *list = columns->list + first;
        size_t above = 0;
        double share;

        while (above < n && list[above].point < point)
                above++;
        if (above == n || above == 0 || list[above].point == point) {
                row[first + (above == n ? n - 1 : above)] += amount;
                return;
        }
        share = (double)(point - list[above - 1].point) / (double)(list[above].point - list[above - 1].point);
        row[first + above - 1] += (1 - share) * amount;
        row[first + above] += share * amount;
}

/*
 * Below the first column the cost is proportional to the distance from the lowest frequency, where it is 0.
 */
static void spread_idle(const struct columns *columns, size_t policy, uint32_t khz, double amount, double *row)
{
        uint32_t lowest = columns->device.policies[policy].khz[0];
        size_t first = columns->idle[policy];

        if (first == SIZE_MAX || khz <= lowest)
                return;
        if (khz < columns->list[first].point)
                amount *= (double)(khz - lowest) / (double)(columns->list[first].point - lowest);
        spread(columns, first, columns->n_idle[policy], khz, amount, row);
}

/*
 * Where the base has the display at its dimmest level, as the screen was never off, that level takes nothing
 * beside it.
 */
static void spread_display(const struct columns *columns, uint32_t level, double amount, double *row)
{
        size_t first = columns->term[TERM_DISPLAY];

        if (columns->levels == 0 || level == BRIGHTNESS_UNKNOWN)
                return;
        if (columns->dimmest != BRIGHTNESS_UNKNOWN && level < columns->list[first].point)
                amount *= level <= columns->dimmest ? 0 : (double)(level - columns->dimmest) /
                                                           (double)(columns->list[first].point - columns->dimmest);
        spread(columns, first, columns->levels, level, amount, row);
}

static void put(const struct columns *columns, enum term term, double amount, double *row)
{
        if (columns->term[term] != SIZE_MAX)
                row[columns->term[term]] += amount;
}

/* A and S of rows are not scaled by more: counters that are wrong make no row negative. */
#define KIND_LEAST 0.2
#define KIND_MOST 5

/* Each policy's A and S in a row. */
struct busy_before {
        double by[COLUMNS_POLICIES_MAX][2][COLUMNS_POINTS_MAX];
};

static void keep_busy(const struct columns *columns, const double *row, struct busy_before *ret)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const size_t first[] = { columns->active[i], columns->shared[i] };

                for (size_t t = 0; t < ARRAY_SIZE(first); t++)
                        if (first[t] != SIZE_MAX)
                                memcpy(ret->by[i][t], row + first[t],
                                       columns->device.policies[i].n_khz * sizeof(*row));
        }
}

/* Scales a policy's A and S by its kind of work, and fills the columns of the kind. */
static void apply_kind(const struct columns *columns, size_t policy, const struct usage *usage,
                       const struct busy_before *before, double *row)
{
        const struct columns_kind *kind = &columns->kind[policy];
        const size_t first[] = { columns->active[policy], columns->shared[policy] };
        size_t n = columns->device.policies[policy].n_khz;
        double sum[COUNTED_COUNT] = { 0 }, instructions, misses = 0, factor, power = 0;

        if (kind->instructions == SIZE_MAX || !columns_row_kind(&columns->device.policies[policy],
                                                                &usage->counted, sum))
                return;
        instructions = sum[COUNTED_INSTRUCTIONS] / sum[COUNTED_CYCLES] / kind->usual_instructions - 1;
        if (kind->misses != SIZE_MAX)
                misses = sum[COUNTED_MISSES] / sum[COUNTED_CYCLES] - kind->usual_misses;
        factor = 1 + kind->instructions_prior.value * instructions + kind->misses_prior.value * misses;
        factor = fmin(fmax(factor, KIND_LEAST), KIND_MOST);
        for (size_t t = 0; t < ARRAY_SIZE(first); t++)
                for (size_t k = 0; first[t] != SIZE_MAX && k < n; k++) {
                        double own = row[first[t] + k] - before->by[policy][t][k];

                        power += columns->last ? own * columns->last[first[t] + k] : 0;
                        row[first[t] + k] += own * (factor - 1);
                }
        row[kind->instructions] += instructions * power;
        if (kind->misses != SIZE_MAX)
                row[kind->misses] += misses * power;
}

static void fill_row(const struct columns *columns, const struct usage *usage, double *row)
{
        for (size_t i = 0; i < usage->cpu.n; i++) {
                const struct point *cpu = &usage->cpu.list[i];
                ssize_t at = columns_device_find(&columns->device, cpu->policy);
                size_t n = at < 0 ? 0 : columns->device.policies[at].n_khz;

                if (at < 0 || columns->active[at] == SIZE_MAX)
                        continue;
                spread(columns, columns->active[at], n, cpu->khz, (double)cpu->busy_ns / NS_PER_S, row);
                if (columns->shared[at] != SIZE_MAX)
                        spread(columns, columns->shared[at], n, cpu->khz, (double)cpu->any_ns / NS_PER_S,
                               row);
                spread_idle(columns, (size_t)at, cpu->khz, (double)cpu->any_ns / NS_PER_S, row);
        }
        for (size_t i = 0; i < usage->idle.n; i++) {
                const struct point *idle = &usage->idle.list[i];
                ssize_t at = columns_device_find(&columns->device, idle->policy);

                if (at >= 0)
                        spread_idle(columns, (size_t)at, idle->khz, (double)idle->idle_ns / NS_PER_S, row);
        }
        for (size_t i = 0; i < usage->screen.n; i++)
                spread_display(columns, usage->screen.list[i].brightness,
                               (double)usage->screen.list[i].on_ns / NS_PER_S, row);
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (amount_kinds[i].term != TERM_NONE)
                        put(columns, amount_kinds[i].term, (double)usage->amount[i] / amount_kinds[i].per_unit, row);
}

void columns_row(const struct columns *columns, const struct usage *usage, double *row)
{
        struct busy_before before;

        if (!columns_have_kinds(columns) || usage->counted.n == 0) {
                fill_row(columns, usage, row);
                return;
        }
        keep_busy(columns, row, &before);
        fill_row(columns, usage, row);
        for (size_t i = 0; i < columns->device.n_policies; i++)
                if (columns->active[i] != SIZE_MAX)
                        apply_kind(columns, i, usage, &before, row);
}
