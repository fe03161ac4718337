/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "charging.h"

#include <math.h>

#include "charge.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/*
 * A lithium-ion cell is charged at a constant current at first, and then at a constant voltage, at a current that
 * falls to a tenth: 20 % take as long as 51 % did before.
 */
#define SLOWS_PERCENT 80.0
#define SLOWS_TO 0.1

static double speed_at(double percent)
{
        return percent <= SLOWS_PERCENT ? 1 :
               1 - (1 - SLOWS_TO) * (fmin(percent, 100) - SLOWS_PERCENT) / (100 - SLOWS_PERCENT);
}

/* Time from @percent to full, as the percent that would be charged at full speed in that time. */
static double way_to_full(double percent)
{
        double slope = (1 - SLOWS_TO) / (100 - SLOWS_PERCENT), flat = fmax(SLOWS_PERCENT - percent, 0);

        return flat - log(SLOWS_TO / speed_at(percent)) / slope;
}

static bool is_fed(const struct battery *battery)
{
        return battery->status == BATTERY_CHARGING || battery->status == BATTERY_NOT_CHARGING ||
               battery->status == BATTERY_FULL;
}

/*
 * Does the limit hold this level? A level above the limit, which may have been set later, stays, too; a full
 * battery needs no limit.
 */
static bool is_at_limit(const struct charge_limit *limit, double percent)
{
        return limit->end_percent > 0 && percent < 99 &&
               percent >= (limit->start_percent > 0 ? limit->start_percent :
                                                      limit->end_percent - TUNING_LIMIT_FALL_PERCENT);
}

/* The charge limit in percent. NaN: none is set, or the charger does not keep it: it goes on beyond. */
static double kept_limit(const struct forecast_battery *battery, double percent)
{
        double limit = battery->limit.end_percent;

        if (!(limit > 0))
                return NAN;
        return battery->battery.status == BATTERY_CHARGING && percent >= limit + TUNING_LIMIT_OVER_PERCENT ?
                       NAN :
                       limit;
}

/* The last polls on the charger without a gap, and the level from its first step to its last. */
struct run {
        double minutes;        /* length of these polls */
        double first, last;    /* percent at the first and the last step */
        double step;
        double step_minutes;   /* time between those two steps */
        double highest;
};

static void read_run(const struct history *history, struct run *run)
{
        const struct store_poll *levels = history->levels;
        double before = NAN;
        size_t first = history->n_levels;
        int64_t step_ns = 0;

        *run = (struct run){ .first = NAN, .last = NAN, .highest = NAN };
        while (first > 0 && is_fed(&levels[first - 1].battery) &&
               levels[first - 1].end_ns > levels[history->n_levels - 1].end_ns - (int64_t)(TUNING_CHARGING_S * 1e9) &&
               (first == history->n_levels || levels[first].start_ns <= levels[first - 1].end_ns + (int64_t)NS_PER_S))
                first--;
        for (size_t i = first; i < history->n_levels; i++) {
                double percent = battery_fine_percent(&levels[i].battery);

                run->step = battery_step(&levels[i].battery);
                run->minutes = (double)(levels[i].end_ns - levels[first].end_ns) / 60e9;
                run->highest = fmax(run->highest, percent);
                if (i > first && percent != before && !isnan(percent)) {
                        if (isnan(run->first)) {
                                run->first = percent;
                                step_ns = levels[i].end_ns;
                        }
                        run->last = percent;
                        run->step_minutes = (double)(levels[i].end_ns - step_ns) / 60e9;
                }
                before = percent;
        }
}

/*
 * Percent per minute at full speed, and its relative error: by the level, where it rose by some steps while the
 * charger was watched; else by the current sensor. NaN: neither.
 */
static double find_speed(const struct run *run, const struct battery *battery, double percent_j, double *error)
{
        double risen = run->last - run->first;

        *error = TUNING_CHARGING_SD;
        if (run->step_minutes > 0 && risen > 0 && risen >= 2 * run->step)
                return (way_to_full(run->first) - way_to_full(run->last)) / run->step_minutes;
        *error = 2 * TUNING_CHARGING_SD; /* the sensor shows only the present power, some of which is lost */
        if (battery->status == BATTERY_CHARGING && battery->have & BATTERY_POWER && battery->power_uw > 0 &&
            percent_j > 0)
                return 60 * (double)battery->power_uw / UJ_PER_J / percent_j /
                       speed_at(battery_fine_percent(battery));
        return NAN;
}

void charging_of(const struct history *history, const struct forecast_battery *battery, double percent_j,
                 struct budget_charging *ret)
{
        const struct battery *now = &battery->battery;
        const double z = quantile_normal(FORECAST_LEVEL);
        double percent, end, speed, error, minutes, fallen;
        struct run run;

        *ret = (struct budget_charging){ -1, -1, -1, .minutes_to_full = { NAN, NAN, NAN }, .limit_percent = NAN };
        if (!battery->known || now->status == BATTERY_UNKNOWN)
                return;
        ret->too_weak = ret->held = 0;
        ret->charging = now->status == BATTERY_CHARGING;
        percent = battery_fine_percent(now);
        ret->limit_percent = kept_limit(battery, percent);
        if (!is_fed(now))
                return;
        ret->held = !ret->charging && is_at_limit(&battery->limit, percent);
        read_run(history, &run);
        fallen = run.highest - percent;
        ret->too_weak = !ret->held && run.minutes > 0 && fallen >= fmax(TUNING_WEAK_PERCENT, 2 * battery_step(now));
        if (now->status == BATTERY_FULL && !ret->too_weak && !ret->held)
                ret->minutes_to_full = (struct cost_value){ 0, 0, 0 };
        if (!ret->charging || ret->too_weak || isnan(percent))
                return;
        speed = find_speed(&run, now, percent_j, &error);
        end = isnan(ret->limit_percent) ? 100 : ret->limit_percent;
        minutes = fmax(way_to_full(fmin(percent + battery_step(now) / 2, 100)) - way_to_full(end), 0) / speed;
        ret->minutes_to_full = (struct cost_value){ minutes, minutes / (1 + z * error), minutes * (1 + z * error) };
}
