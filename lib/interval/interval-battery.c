/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The energy that the battery gave between two samples, by its own level: energy_now; or
 * charge_now times the mean of the voltages at both ends (a steady load would
 * otherwise look dearer as the voltage falls); or percent steps. Only while it
 * discharges at both ends: a charger feeds the machine past the battery; and only while the batteries are the
 * same. Levels are those that level-watch.c lets count.
 */

#include <math.h>

#include "interval-private.h"
#include "util/units.h"
#include "util/util.h"

#define UJ_PER_UWH 3600

/*
 * A gauge that corrects itself upward by more than this,
 * in percent of full, has started anew: count from there.
 */
#define CORRECTION_PERCENT 2
#define RESTED_PERCENT 1

static double mean_voltage_uv(const struct battery *a, const struct battery *b)
{
        return ((double)a->voltage_uv + (double)b->voltage_uv) / 2;
}

static uint64_t read_level(const struct battery *battery, uint32_t kind)
{
        return kind == BATTERY_ENERGY_NOW   ? battery->energy_now_uwh
               : kind == BATTERY_CHARGE_NOW ? battery->charge_now_uah
                                            : battery->capacity_percent;
}

static double full_level(const struct battery *battery, uint32_t kind)
{
        if (kind == BATTERY_CAPACITY)
                return 100;
        if (kind == BATTERY_ENERGY_NOW)
                return battery->have & BATTERY_ENERGY_FULL ? (double)battery->energy_full_uwh : NAN;
        return battery->have & BATTERY_CHARGE_FULL ? (double)battery->charge_full_uah : NAN;
}

/* Counts only falls below the lowest level so far, so that a flicker upward and back counts nothing. */
static uint64_t fall(struct level *level, uint32_t kind, const struct battery *before,
                     const struct battery *now)
{
        uint64_t value = read_level(now, kind), from;
        double full = full_level(now, kind);

        if (level->kind != kind)
                *level = (struct level){ kind, read_level(before, kind) };
        from = level->lowest;
        if (value < from || (isfinite(full) && (double)(value - from) > full * CORRECTION_PERCENT / 100))
                level->lowest = value;
        return value < from ? from - value : 0;
}

static double slept_of(const struct battery_watch *watch, uint32_t kind)
{
        return watch->slept[kind == BATTERY_ENERGY_NOW   ? WATCHED_ENERGY
                            : kind == BATTERY_CHARGE_NOW ? WATCHED_CHARGE
                                                         : WATCHED_CAPACITY];
}

/* The part of a fall that belongs to this interval, and not to an earlier suspend. */
static double awake_fall(struct level *level, const struct battery_watch *watch, uint32_t kind,
                         const struct battery *a, const struct battery *b)
{
        uint64_t fallen = fall(level, kind, a, b);

        return slept_of(watch, kind) != 0 ? 0 : (double)fallen;
}

/* Percent is by charge, or by energy if the gauge counts nothing else. */
static double percent_fallen(struct level *level, const struct battery_watch *watch, const struct battery *a,
                             const struct battery *b, double *slept)
{
        uint32_t have = a->have & b->have;
        uint32_t kind = (have & BATTERY_CHARGE_NOW) && (have & BATTERY_CHARGE_FULL)   ? BATTERY_CHARGE_NOW
                        : (have & BATTERY_ENERGY_NOW) && (have & BATTERY_ENERGY_FULL) ? BATTERY_ENERGY_NOW
                        : have & BATTERY_CAPACITY                                     ? BATTERY_CAPACITY
                                                                                      : 0;

        if (!kind || !(full_level(a, kind) > 0))
                return NAN;
        *slept = 100 * slept_of(watch, kind) / full_level(a, kind);
        return 100 * awake_fall(level, watch, kind, a, b) / full_level(a, kind);
}

static double full_uj(const struct battery *battery, uint32_t have, double voltage_uv)
{
        if (have & BATTERY_ENERGY_FULL)
                return (double)battery->energy_full_uwh * UJ_PER_UWH;
        if ((have & BATTERY_CHARGE_FULL) && (have & BATTERY_VOLTAGE))
                return (double)battery->charge_full_uah * voltage_uv * UJ_PER_UAH_UV;
        return NAN;
}

/* The level that gives the joules, and its unit's energy; that of a percent is by @a, as gauges may relearn full. */
static uint32_t energy_kind(const struct battery *a, const struct battery *b, double *unit_uj)
{
        uint32_t have = a->have & b->have;

        if (have & BATTERY_ENERGY_NOW) {
                *unit_uj = UJ_PER_UWH;
                return BATTERY_ENERGY_NOW;
        }
        if ((have & BATTERY_CHARGE_NOW) && (have & BATTERY_VOLTAGE)) {
                *unit_uj = mean_voltage_uv(a, b) * UJ_PER_UAH_UV;
                return BATTERY_CHARGE_NOW;
        }
        *unit_uj = full_uj(a, have, mean_voltage_uv(a, b)) / 100;
        return have & BATTERY_CAPACITY;
}

static double uj_fallen(struct level *level, const struct battery_watch *watch, const struct battery *a,
                        const struct battery *b, double *slept)
{
        double unit_uj;
        uint32_t kind = energy_kind(a, b, &unit_uj);

        if (!kind)
                return NAN;
        *slept = slept_of(watch, kind) * unit_uj;
        return awake_fall(level, watch, kind, a, b) * unit_uj;
}

double interval_step_uj(const struct battery *battery, const struct battery *step)
{
        if (battery->have & BATTERY_ENERGY_NOW)
                return step->have & BATTERY_ENERGY_NOW ? (double)step->energy_now_uwh * UJ_PER_UWH : NAN;
        if ((battery->have & BATTERY_CHARGE_NOW) && (battery->have & BATTERY_VOLTAGE))
                return step->have & BATTERY_CHARGE_NOW
                               ? (double)step->charge_now_uah * (double)battery->voltage_uv * UJ_PER_UAH_UV : NAN;
        if (!(battery->have & BATTERY_CAPACITY))
                return NAN;
        return full_uj(battery, battery->have, (double)battery->voltage_uv) / 100 *
               (step->have & BATTERY_CAPACITY ? step->capacity_percent : 1);
}

/*
 * Was a charger connected during a suspend, when its events are not seen? Yes, if the level is higher than before. A
 * gauge also shows a little more when it rests after a load; that is no charger.
 */
static bool charged_asleep(const struct battery *a, const struct battery *b, uint64_t suspend_ns)
{
        static const uint32_t kinds[] = { BATTERY_ENERGY_NOW, BATTERY_CHARGE_NOW, BATTERY_CAPACITY };

        for (size_t i = 0; suspend_ns > 0 && i < ARRAY_SIZE(kinds); i++) {
                double full = full_level(b, kinds[i]);

                if (a->have & b->have & kinds[i])
                        return (double)read_level(b, kinds[i]) >
                               (double)read_level(a, kinds[i]) +
                                       (isfinite(full) ? full : 0) * RESTED_PERCENT / 100;
        }
        return false;
}

void battery_discharge(struct battery_levels *levels, struct battery_watch *watch, const struct sample *before,
                       const struct sample *now, struct interval *ret)
{
        const struct battery *a = &before->battery, *b = &now->battery;
        bool changed = watch->changed;
        double percent, uj, slept_percent = 0, slept_uj = 0;

        watch->changed = false;
        if (!(before->have & now->have & SAMPLE_BATTERY) || a->status != BATTERY_DISCHARGING ||
            b->status != BATTERY_DISCHARGING || charged_asleep(a, b, ret->suspend_ns) || changed) {
                *levels = (struct battery_levels){ 0 };
                return;
        }
        percent = percent_fallen(&levels->percent, watch, a, b, &slept_percent);
        uj = uj_fallen(&levels->energy, watch, a, b, &slept_uj);
        if (isfinite(percent)) {
                ret->battery_have |= INTERVAL_DISCHARGE_PERCENT;
                ret->discharge_percent = percent;
                ret->slept_percent = slept_percent;
        }
        if (isfinite(uj) && uj < 0x1p62 && fabs(slept_uj) < 0x1p53) {
                ret->battery_have |= INTERVAL_DISCHARGE;
                ret->discharge_uj = (uint64_t)llround(uj);
                ret->slept_uj = llround(slept_uj);
        }
}

void interval_add_slept(struct interval *interval)
{
        int64_t sum;

        if (__builtin_add_overflow((int64_t)MIN(interval->discharge_uj, (uint64_t)INT64_MAX), interval->slept_uj, &sum))
                sum = INT64_MAX;
        interval->discharge_uj = (uint64_t)MAX(sum, INT64_C(0));
        interval->discharge_percent = fmax(interval->discharge_percent + interval->slept_percent, 0);
        interval->slept_uj = 0;
        interval->slept_percent = 0;
}
