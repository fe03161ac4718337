/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the battery gave between two samples, by its own level: energy_now; or
 * charge_now times the mean of the voltages at both ends (a steady load would
 * otherwise look dearer as the voltage falls); or percent steps. Only while it
 * discharges at both ends: a charger feeds the machine past the battery.
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

/* Steps downward from the lowest level so far, so that a flicker upward and back counts nothing. */
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

/* Percent is of charge; energy stands in where the gauge counts nothing else. */
static double percent_fallen(struct level *level, const struct battery *a, const struct battery *b,
                             uint32_t have)
{
        uint32_t kind = (have & BATTERY_CHARGE_NOW) && (have & BATTERY_CHARGE_FULL)   ? BATTERY_CHARGE_NOW
                        : (have & BATTERY_ENERGY_NOW) && (have & BATTERY_ENERGY_FULL) ? BATTERY_ENERGY_NOW
                        : have & BATTERY_CAPACITY                                     ? BATTERY_CAPACITY
                                                                                      : 0;

        if (!kind || !(full_level(b, kind) > 0))
                return NAN;
        return 100 * (double)fall(level, kind, a, b) / full_level(b, kind);
}

static double full_uj(const struct battery *battery, uint32_t have, double voltage_uv)
{
        if (have & BATTERY_ENERGY_FULL)
                return (double)battery->energy_full_uwh * UJ_PER_UWH;
        if ((have & BATTERY_CHARGE_FULL) && (have & BATTERY_VOLTAGE))
                return (double)battery->charge_full_uah * voltage_uv * UJ_PER_UAH_UV;
        return NAN;
}

static double uj_fallen(struct level *level, const struct battery *a, const struct battery *b, uint32_t have)
{
        if (have & BATTERY_ENERGY_NOW)
                return (double)fall(level, BATTERY_ENERGY_NOW, a, b) * UJ_PER_UWH;
        if ((have & BATTERY_CHARGE_NOW) && (have & BATTERY_VOLTAGE))
                return (double)fall(level, BATTERY_CHARGE_NOW, a, b) * mean_voltage_uv(a, b) * UJ_PER_UAH_UV;
        if (!(have & BATTERY_CAPACITY))
                return NAN;
        return (double)fall(level, BATTERY_CAPACITY, a, b) / 100 * full_uj(b, have, mean_voltage_uv(a, b));
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
 * Asleep nobody sees a charger come and go. The level is higher than before: it was there. A gauge that rests
 * after a load shows a little more, too; that is no charger.
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

void battery_discharge(struct battery_levels *levels, const struct sample *before, const struct sample *now,
                       struct interval *ret)
{
        const struct battery *a = &before->battery, *b = &now->battery;
        double percent, uj;

        if (!(before->have & now->have & SAMPLE_BATTERY) || a->status != BATTERY_DISCHARGING ||
            b->status != BATTERY_DISCHARGING || charged_asleep(a, b, ret->suspend_ns)) {
                *levels = (struct battery_levels){ 0 };
                return;
        }
        percent = percent_fallen(&levels->percent, a, b, a->have & b->have);
        uj = uj_fallen(&levels->energy, a, b, a->have & b->have);
        if (isfinite(percent)) {
                ret->battery_have |= INTERVAL_DISCHARGE_PERCENT;
                ret->discharge_percent = percent;
        }
        if (isfinite(uj) && uj < 0x1p62) {
                ret->battery_have |= INTERVAL_DISCHARGE;
                ret->discharge_uj = (uint64_t)llround(uj);
        }
}
