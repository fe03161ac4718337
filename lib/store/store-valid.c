/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which numbers a database may hold. Who writes and who reads ask the same functions, so that nobody writes what others
 * refuse. Spans of time that cannot be are an error. A discharge that no battery gives is unknown.
 */

#include <errno.h>
#include <math.h>

#include "store-private.h"
#include "util/util.h"

/* uJ and 10^-9 percent: no battery gives a gigajoule in a day, nor more than all between two polls. */
#define MOST_UJ INT64_C(1000000000000000)
#define MOST_NPERCENT INT64_C(100000000000)

static bool store_is_possible_uj(int64_t uj)
{
        return uj >= 0 && uj <= MOST_UJ;
}

/* More than all it holds: the joules come from the same level. */
static void drop_impossible(struct recorded *recorded)
{
        if (recorded->discharge_npercent > MOST_NPERCENT)
                recorded->discharge_uj = recorded->discharge_npercent = DISCHARGE_UNKNOWN;
        if (!store_is_possible_uj(recorded->discharge_uj))
                recorded->discharge_uj = DISCHARGE_UNKNOWN;
        if (recorded->discharge_npercent < 0)
                recorded->discharge_npercent = DISCHARGE_UNKNOWN;
}

void store_drop_impossible_sum(struct times *times)
{
        if (store_is_possible_uj(times->sums[SUM_DISCHARGE_UJ]))
                return;
        times->sums[SUM_DISCHARGE_UJ] = 0;
        times->sums[SUM_KNOWN_NS] = 0;
}

/* A time, and the product of it and levels of @least..@most. */
static bool is_mean(const int64_t *sums, int64_t elapsed_ns, int least, int most)
{
        return sums[0] >= 0 && sums[0] <= elapsed_ns && (double)sums[1] >= (double)least * (double)sums[0] &&
               (double)sums[1] <= (double)most * (double)sums[0];
}

/* Times that no clock shows would break the arithmetic of hours and days. */
bool store_is_sane(const struct times *times)
{
        const int64_t *sums = times->sums, elapsed_ns = sums[SUM_ELAPSED_NS], most_ns = INT64_MAX / 4;

        return store_is_span(times->start_ns, times->end_ns) &&
               elapsed_ns >= 0 && elapsed_ns <= most_ns && sums[SUM_KNOWN_NS] <= elapsed_ns &&
               sums[SUM_PERCENT_KNOWN_NS] <= elapsed_ns && sums[SUM_COUNTED_NS] <= elapsed_ns &&
               sums[SUM_SHARED_NS] <= elapsed_ns - sums[SUM_COUNTED_NS] &&
               store_is_possible_uj(sums[SUM_DISCHARGE_UJ]) && sums[SUM_DISCHARGE_NPERCENT] >= 0 &&
               is_mean(&sums[SUM_WIFI_SIGNAL_NS], elapsed_ns, INT8_MIN, -1) &&
               is_mean(&sums[SUM_CELLULAR_SIGNAL_NS], elapsed_ns, 0, 100);
}

/* The level at the end stands for the time awake. */
static bool add_signal(const struct signal *signal, int64_t awake_ns, int64_t *sums)
{
        sums[SUM_WIFI_SIGNAL_NS] = signal->have & SIGNAL_WIFI ? awake_ns : 0;
        sums[SUM_CELLULAR_SIGNAL_NS] = signal->have & SIGNAL_CELLULAR ? awake_ns : 0;
        return !__builtin_mul_overflow(sums[SUM_WIFI_SIGNAL_NS], signal->wifi_signal_dbm,
                                       &sums[SUM_WIFI_SIGNAL_DBM_NS]) &&
               !__builtin_mul_overflow(sums[SUM_CELLULAR_SIGNAL_NS], signal->cellular_signal_percent,
                                       &sums[SUM_CELLULAR_SIGNAL_PERCENT_NS]);
}

static void add_discharge(const struct recorded *recorded, int64_t *sums)
{
        if (recorded->discharge_uj != DISCHARGE_UNKNOWN) {
                sums[SUM_DISCHARGE_UJ] = recorded->discharge_uj;
                sums[SUM_KNOWN_NS] = recorded->elapsed_ns;
        }
        if (recorded->discharge_npercent != DISCHARGE_UNKNOWN) {
                sums[SUM_DISCHARGE_NPERCENT] = recorded->discharge_npercent;
                sums[SUM_PERCENT_KNOWN_NS] = recorded->elapsed_ns;
        }
}

int store_check(struct recorded *recorded, struct times *ret)
{
        int64_t elapsed_ns = recorded->elapsed_ns, suspend_ns = recorded->suspend_ns;
        struct times times = {
                .start_ns = recorded->start_ns,
                .end_ns = recorded->end_ns,
                .sums = { [SUM_ELAPSED_NS] = elapsed_ns,
                          [SUM_COUNTED_NS] = recorded->split_by == SPLIT_COUNTED ? elapsed_ns : 0,
                          [SUM_SHARED_NS] = recorded->split_by == SPLIT_SHARED ? elapsed_ns : 0 },
                .recorded_ns = recorded->recorded_ns,
                .details = true,
        };

        drop_impossible(recorded);
        add_discharge(recorded, times.sums);
        if (elapsed_ns < 0 || suspend_ns < 0 || suspend_ns > elapsed_ns ||
            !add_signal(&recorded->signal, elapsed_ns - suspend_ns, times.sums) || !store_is_sane(&times))
                return -ERANGE;
        *ret = times;
        return 0;
}

static int64_t in_npercent(double percent)
{
        return percent >= 0 && percent < 1e6 ? llround(percent * 1e9) : INT64_MAX;
}

int store_recorded_of(const struct interval *interval, struct recorded *ret)
{
        struct times times;

        *ret = (struct recorded){
                .start_ns = interval->start_realtime_ns,
                .end_ns = interval->end_realtime_ns,
                .elapsed_ns = store_clamp(interval->elapsed_ns),
                .suspend_ns = store_clamp(interval->suspend_ns),
                .discharge_uj = interval->battery_have & INTERVAL_DISCHARGE ? store_clamp(interval->discharge_uj)
                                                                            : DISCHARGE_UNKNOWN,
                .discharge_npercent = interval->battery_have & INTERVAL_DISCHARGE_PERCENT
                                              ? in_npercent(interval->discharge_percent) : DISCHARGE_UNKNOWN,
                .split_by = interval->split_by,
                .signal = interval->signal,
        };
        return store_check(ret, &times);
}
