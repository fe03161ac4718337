/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "charge.h"

#include <errno.h>
#include <math.h>

#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Open-circuit voltage of a lithium-ion cell (LiCoO2 or NMC against graphite), the middle of published tables,
 * which differ by 0.07 V below 30 %. Only ratios are used, so it holds for packs of several cells. The deviation
 * of a device's own cell is TUNING_VOLTAGE_SD.
 */
static const struct {
        double percent, volt;
} cell[] = {
        { 0, 3.28 },  { 5, 3.55 },  { 10, 3.64 }, { 20, 3.70 }, { 30, 3.74 },  { 40, 3.77 },
        { 50, 3.81 }, { 60, 3.87 }, { 70, 3.94 }, { 80, 4.02 }, { 90, 4.10 }, { 100, 4.19 },
};

static double cell_volt(double percent)
{
        for (size_t i = 1; i < ARRAY_SIZE(cell); i++) {
                if (percent <= cell[i].percent)
                        return cell[i - 1].volt + (percent - cell[i - 1].percent) /
                                                          (cell[i].percent - cell[i - 1].percent) *
                                                          (cell[i].volt - cell[i - 1].volt);
        }
        return cell[ARRAY_SIZE(cell) - 1].volt;
}

/* Integral of the voltage from empty, in V times percent. */
static double cell_integral(double percent)
{
        double sum = 0;

        for (size_t i = 1; i < ARRAY_SIZE(cell) && cell[i - 1].percent < percent; i++) {
                double end = fmin(cell[i].percent, percent);

                sum += (cell[i - 1].volt + cell_volt(end)) / 2 * (end - cell[i - 1].percent);
        }
        return sum;
}

double charge_shown(const struct battery *battery, double *step)
{
        *step = 0;
        if (battery->have & BATTERY_CHARGE_NOW && battery->have & BATTERY_CHARGE_FULL &&
            battery->charge_full_uah > 0)
                return fmin(100.0 * (double)battery->charge_now_uah / (double)battery->charge_full_uah, 100);
        if (battery->have & BATTERY_ENERGY_NOW && battery->have & BATTERY_ENERGY_FULL &&
            battery->energy_full_uwh > 0)
                return fmin(100.0 * (double)battery->energy_now_uwh / (double)battery->energy_full_uwh, 100);
        *step = 1;
        return battery->have & BATTERY_CAPACITY ? (double)battery->capacity_percent : NAN;
}

/* A floored percentage is anywhere in its step, but not above full. */
static void spread_step(struct charge *charge, double step)
{
        step = fmin(step, 100 - charge->percent);
        charge->percent += step / 2;
        charge->percent_sd = hypot(step / sqrt(12), TUNING_CHARGE_SD_PERCENT);
}

int charge_of(const struct profile *profile, const struct battery *shown, double percent, struct charge *ret)
{
        struct charge charge = { .percent_j = J_PER_PERCENT(profile->energy_full_mwh) };
        double step = 0, seen = shown ? charge_shown(shown, &step) : NAN;

        charge.percent = isnan(percent) ? seen : percent;
        if (isnan(charge.percent))
                return -ENODEV;
        spread_step(&charge, isnan(percent) ? step : 0);
        charge.energy_sd = TUNING_NO_VOLTAGE_SD;
        if (shown && shown->have & BATTERY_ENERGY_FULL && shown->energy_full_uwh > 0) {
                /* The present capacity: the profile's is that of its calibration, and batteries age. */
                charge.percent_j = J_PER_PERCENT((double)shown->energy_full_uwh * 1e-3) * profile_shown_part(profile);
                charge.energy_sd = TUNING_VOLTAGE_SD;
        }
        if (shown && shown->have & BATTERY_CHARGE_FULL && shown->have & BATTERY_VOLTAGE &&
            shown->charge_full_uah > 0) {
                /*
                 * The voltage belongs to the battery's percentage, in the middle of its step; the user's may be
                 * another.
                 */
                double middle = seen + fmin(step, 100 - seen) / 2;
                double ratio = isnan(seen) ? 1 : cell_volt(charge.percent) / cell_volt(middle);

                charge.percent_j = 0.01 * (double)shown->charge_full_uah * (double)shown->voltage_uv * ratio *
                                   UJ_PER_UAH_UV / UJ_PER_J * profile_shown_part(profile);
                charge.energy_sd = TUNING_VOLTAGE_SD;
                charge.falls = true;
        }
        *ret = charge;
        return 0;
}

double charge_energy_j(const struct charge *charge, double keep_percent)
{
        if (!charge->falls)
                return charge->percent_j * (charge->percent - keep_percent);
        return charge->percent_j * (cell_integral(charge->percent) - cell_integral(keep_percent)) /
               cell_volt(charge->percent);
}
