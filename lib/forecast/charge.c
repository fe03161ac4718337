/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "charge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "source/battery.h"
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

#define NOMINAL_V 3.8

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

/* A floored percentage is anywhere in its step, but not above full. */
static void spread_step(struct charge *charge, double step)
{
        step = fmin(step, 100 - charge->percent);
        charge->percent += step / 2;
        charge->percent_sd = hypot(step / sqrt(12), TUNING_CHARGE_SD_PERCENT);
}

/* One look at a battery: its voltage relative to the published cell at the same charge, and the load. */
struct reading {
        double percent, ratio, load_w;
};

/* The charge is in the middle of its step; @otherwise where the battery shows none. */
static struct reading read_battery(const struct battery *shown, double load_w, double otherwise)
{
        double percent = battery_fine_percent(shown);

        percent = isnan(percent) ? otherwise : percent + fmin(battery_step(shown), 100 - percent) / 2;
        return (struct reading){ percent, (double)shown->voltage_uv * 1e-6 / cell_volt(percent), load_w };
}

static bool read_level(const struct store_poll *level, struct reading *ret)
{
        const uint32_t needed = BATTERY_VOLTAGE | BATTERY_POWER;

        if (level->battery.status != BATTERY_DISCHARGING || (level->battery.have & needed) != needed)
                return false;
        *ret = read_battery(&level->battery, (double)level->battery.power_uw / UJ_PER_J, NAN);
        return ret->ratio > 0;
}

/* The sag is R*P/V^2: the same load takes a larger part at a lower voltage. */
static double sag_at(double volt)
{
        return pow(NOMINAL_V / volt, 2);
}

/*
 * Part of the nominal voltage that each W takes, from how the voltage moved when the load changed between two polls.
 * Slow changes (the charge, the temperature, the shape of the cell) are the same in both, and cancel.
 */
static double sag_per_w(const struct history *history)
{
        double full_wh = history->profile->energy_full_mwh * 1e-3, least = pow(TUNING_SAG_STEP / TUNING_SAG_SD, 2);
        double both = least * TUNING_SAG_PER_C, squares = least;
        struct reading before, now = { 0 };
        bool has_before, has_now = false;

        for (size_t i = 0; i < history->n_levels; i++) {
                double change_c;

                before = now;
                has_before = has_now &&
                             history->levels[i].start_ns <= history->levels[i - 1].end_ns + (int64_t)NS_PER_S;
                has_now = read_level(&history->levels[i], &now);
                if (!has_before || !has_now ||
                    fabs(now.load_w - before.load_w) < TUNING_SAG_CHANGE * fmax(now.load_w, before.load_w))
                        continue;
                change_c = (now.load_w - before.load_w) / full_wh * sag_at(cell_volt(now.percent));
                both += change_c * log(before.ratio / now.ratio);
                squares += change_c * change_c;
        }
        return fmax(both / squares, 0) / full_wh;
}

static double at_rest(const struct reading *reading, double sag_per_w)
{
        double sag = sag_per_w * reading->load_w * sag_at(cell_volt(reading->percent));

        return reading->ratio * (1 + fmin(fmax(sag, -0.5), 0.5));
}

static int compare(const void *a, const void *b)
{
        const double *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

/*
 * A reading's voltage and load may be from different moments; a load that has just ended makes an error of a percent.
 * This is therefore the median of this reading and of the last polls with about this charge.
 */
static double rest_ratio(const struct history *history, const struct reading *shown, double sag_per_w)
{
        double ratios[TUNING_REST_POLLS] = { at_rest(shown, sag_per_w) };
        struct reading one;
        size_t n = 1;

        for (size_t i = history->n_levels; i-- > 0 && n < ARRAY_SIZE(ratios);)
                if (read_level(&history->levels[i], &one) && fabs(one.percent - shown->percent) <= TUNING_REST_PERCENT)
                        ratios[n++] = at_rest(&one, sag_per_w);
        qsort(ratios, n, sizeof(*ratios), compare);
        return (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
}

int charge_of(const struct history *history, const struct battery *shown, double load_w, double percent,
              struct charge *ret)
{
        const struct profile *profile = history->profile;
        struct charge charge = { .percent_j = J_PER_PERCENT(profile->energy_full_mwh) };

        charge.percent = isnan(percent) && shown ? battery_fine_percent(shown) : percent;
        if (isnan(charge.percent))
                return -ENODEV;
        spread_step(&charge, isnan(percent) ? battery_step(shown) : 0);
        charge.energy_sd = TUNING_NO_VOLTAGE_SD;
        if (shown && shown->have & BATTERY_ENERGY_FULL && shown->energy_full_uwh > 0) {
                /* The present capacity: the profile's is that of its calibration, and batteries age. */
                charge.percent_j = J_PER_PERCENT((double)shown->energy_full_uwh * 1e-3) * profile_shown_part(profile);
                charge.energy_sd = TUNING_VOLTAGE_SD;
        }
        if (shown && shown->have & BATTERY_CHARGE_FULL && shown->have & BATTERY_VOLTAGE &&
            shown->charge_full_uah > 0) {
                /* The voltage belongs to the battery's percentage; the user may have given another one. */
                struct reading reading = read_battery(shown, load_w, charge.percent);

                double sag = sag_per_w(history), ratio = rest_ratio(history, &reading, sag);

                charge.percent_j = 0.01 * (double)shown->charge_full_uah * 1e6 * ratio * cell_volt(charge.percent) *
                                   UJ_PER_UAH_UV / UJ_PER_J * profile_shown_part(profile);
                charge.sag_per_w = sag * sag_at(cell_integral(charge.percent) / fmax(charge.percent, 1));
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
