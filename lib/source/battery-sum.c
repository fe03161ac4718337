/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums all batteries that count to one. */

#include <math.h>

#include "battery-private.h"
#include "util/util.h"

#define FULL_PERCENT 99

/*
 * Voltage of a cell over a whole discharge, for batteries that count charge: their voltage now depends on the state of
 * charge, by a fifth, so the number of cells in series is taken instead.
 */
#define CELL_UV 3800000

uint64_t battery_nominal_uv(const struct battery *battery)
{
        return battery->have & BATTERY_VOLTAGE ?
                       MAX((battery->voltage_uv + CELL_UV / 2) / CELL_UV, UINT64_C(1)) * CELL_UV : 0;
}

double battery_full_mwh(const struct battery *battery)
{
        if (battery->have & BATTERY_ENERGY_FULL && battery->energy_full_uwh > 0)
                return (double)battery->energy_full_uwh / 1e3;
        if (battery->have & BATTERY_CHARGE_FULL && battery->have & BATTERY_VOLTAGE && battery->charge_full_uah > 0)
                return (double)battery->charge_full_uah * (double)battery_nominal_uv(battery) / 1e9;
        return NAN;
}

/* NaN: it shows only a percentage, or nothing. */
static double level_percent(const struct battery *battery)
{
        const uint32_t charge = BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL,
                       energy = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL;

        if ((battery->have & charge) == charge && battery->charge_full_uah > 0)
                return fmin(100.0 * (double)battery->charge_now_uah / (double)battery->charge_full_uah, 100);
        if ((battery->have & energy) == energy && battery->energy_full_uwh > 0)
                return fmin(100.0 * (double)battery->energy_now_uwh / (double)battery->energy_full_uwh, 100);
        return NAN;
}

double battery_percent(const struct battery *battery)
{
        return battery->have & BATTERY_CAPACITY ? (double)battery->capacity_percent : level_percent(battery);
}

double battery_fine_percent(const struct battery *battery)
{
        double percent = level_percent(battery);

        return isnan(percent) ? battery_percent(battery) : percent;
}

double battery_step(const struct battery *battery)
{
        return isnan(level_percent(battery)) ? 1 : 0;
}

/* Weight of a battery in a mean: its full energy if all show that, else 1. */
static double weight_of(const struct battery_unit *units, size_t n, size_t i)
{
        for (size_t k = 0; k < n; k++)
                if (!(units[k].energy_have & BATTERY_ENERGY_FULL))
                        return 1;
        return (double)units[i].energy_full_uwh;
}

/* NaN: one of them does not show its charge. */
static double mean_percent(const struct battery_unit *units, size_t n)
{
        double sum = 0, weights = 0;

        for (size_t i = 0; i < n; i++) {
                double weight = weight_of(units, n, i);

                sum += weight * battery_fine_percent(&units[i].battery);
                weights += weight;
        }
        return weights > 0 ? sum / weights : NAN;
}

void battery_limit(const struct battery_unit *units, size_t n, struct charge_limit *ret)
{
        double end = 0, start = 0, weights = 0;
        bool limited = false, starts = true;

        for (size_t i = 0; i < n; i++) {
                double weight = weight_of(units, n, i);
                uint32_t limit = units[i].charge_limit_percent;

                limited = limited || limit;
                starts = starts && (!limit || units[i].charge_start_percent);
                end += weight * (limit ? limit : 100);
                start += weight * (limit ? units[i].charge_start_percent : 100);
                weights += weight;
        }
        *ret = (struct charge_limit){ 0 };
        if (!limited || !(weights > 0))
                return;
        ret->end_percent = end / weights;
        ret->start_percent = starts ? start / weights : 0;
}

/* Sums of power and current that batteries give, and that batteries take; NaN: one does not show it. */
struct flow {
        double gives_uw, gives_ua, takes_uw, takes_ua;
};

static void add_flow(struct flow *flow, const struct battery_unit *unit, bool alone)
{
        const struct battery *battery = &unit->battery;
        bool shown = battery->have & BATTERY_POWER, gives = battery->status == BATTERY_DISCHARGING;
        double uw = shown ? (double)battery->power_uw : NAN, ua = shown ? (double)battery->current_ua : NAN;

        if (battery->status == BATTERY_UNKNOWN && unit->supply != SUPPLY_ONLINE && (shown || alone))
                gives = true;
        if (battery->status == BATTERY_CHARGING) {
                flow->takes_uw += uw;
                flow->takes_ua += ua;
        } else if (gives || alone) { /* the other batteries rest, whatever their sensors show */
                flow->gives_uw += uw;
                flow->gives_ua += ua;
        }
}

/* Status of all together; batteries that neither charge nor discharge rest, whatever their status. */
static enum battery_status sum_status(const struct battery_unit *units, size_t n, const struct flow *flow)
{
        bool is[BATTERY_FULL + 1] = { false };

        for (size_t i = 0; i < n; i++)
                is[units[i].battery.status] = true;
        if (is[BATTERY_CHARGING] && is[BATTERY_DISCHARGING] && units[0].supply == SUPPLY_ONLINE)
                return flow->gives_uw > flow->takes_uw ? BATTERY_DISCHARGING
                       : flow->gives_uw == flow->takes_uw ? BATTERY_NOT_CHARGING : BATTERY_CHARGING;
        return is[BATTERY_DISCHARGING] ? BATTERY_DISCHARGING : is[BATTERY_CHARGING] ? BATTERY_CHARGING :
               is[BATTERY_NOT_CHARGING] ? BATTERY_NOT_CHARGING : is[BATTERY_FULL] ? BATTERY_FULL : BATTERY_UNKNOWN;
}

/* Some drivers say Charging for as long as a supply is there. What takes nothing is full, or held at its limit. */
static bool has_charged(const struct battery_unit *units, size_t n, const struct battery *sum)
{
        struct charge_limit limit;

        battery_limit(units, n, &limit);
        return sum->status == BATTERY_CHARGING && sum->have & BATTERY_POWER && sum->power_uw < BATTERY_POWER_MIN_UW &&
               battery_percent(sum) >= (limit.end_percent > 0 ? limit.end_percent - 1 : FULL_PERCENT);
}

/* With a supply online, the power of the batteries does not measure the usage, so the sum does not discharge. */
static void apply_supply(const struct battery_unit *units, size_t n, struct battery *sum)
{
        enum supply_state supply = n > 0 ? units[0].supply : SUPPLY_UNKNOWN;

        for (size_t i = 0; i < n; i++)
                if (units[i].forced && units[i].battery.status <= BATTERY_DISCHARGING)
                        supply = SUPPLY_OFFLINE;
        sum->unfed = supply == SUPPLY_OFFLINE;
        /* Full and Not charging may be outdated. */
        if (supply == SUPPLY_OFFLINE && (sum->status == BATTERY_UNKNOWN ||
                                         (sum->status != BATTERY_CHARGING && sum->have & BATTERY_POWER &&
                                          sum->power_uw >= BATTERY_FLOWS_UW)))
                sum->status = BATTERY_DISCHARGING;
        if (has_charged(units, n, sum))
                sum->status = BATTERY_NOT_CHARGING;
        if (supply != SUPPLY_ONLINE)
                return;
        if (sum->status == BATTERY_DISCHARGING || sum->status == BATTERY_UNKNOWN)
                sum->status = BATTERY_NOT_CHARGING;
        if (sum->status == BATTERY_NOT_CHARGING && battery_percent(sum) >= FULL_PERCENT &&
            sum->power_uw < BATTERY_POWER_MIN_UW)
                sum->status = BATTERY_FULL;
}

static void sum_power(const struct flow *flow, struct battery *sum)
{
        double uw = flow->gives_uw - flow->takes_uw, ua = flow->gives_ua - flow->takes_ua;

        if (sum->status == BATTERY_CHARGING) {
                uw = -uw;
                ua = -ua;
        }
        if (!(uw >= 0))
                return;
        sum->have |= BATTERY_POWER;
        sum->power_uw = (uint64_t)uw;
        sum->current_ua = flow->gives_uw > 0 && flow->takes_uw > 0 ? 0 : (uint64_t)fabs(ua);
}

/* Charges can be added only if all have the same number of cells in series. */
static bool have_same_cells(const struct battery_unit *units, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (battery_nominal_uv(&units[i].battery) != battery_nominal_uv(&units[0].battery))
                        return false;
        return true;
}

static void sum_levels(const struct battery_unit *units, size_t n, struct battery *sum)
{
        for (size_t i = 0; i < n; i++) {
                const struct battery *battery = &units[i].battery;

                sum->have &= battery->have;
                sum->charge_now_uah += battery->charge_now_uah;
                sum->charge_full_uah += battery->charge_full_uah;
                sum->energy_now_uwh += battery->energy_now_uwh;
                sum->energy_full_uwh += battery->energy_full_uwh;
                sum->voltage_uv += battery->voltage_uv;
                sum->temperature_dc =
                        i ? MAX(sum->temperature_dc, battery->temperature_dc) : battery->temperature_dc;
        }
        sum->voltage_uv /= MAX(n, 1u);
        if (!have_same_cells(units, n))
                sum->have &= ~(uint32_t)(BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL);
}

void battery_sum(const struct battery_unit *units, size_t n, struct battery *ret)
{
        struct battery sum = { .have = n ? UINT32_MAX : 0 };
        struct flow flow = { 0 };

        sum_levels(units, n, &sum);
        sum.have &= ~(uint32_t)BATTERY_POWER;
        for (size_t i = 0; i < n; i++)
                add_flow(&flow, &units[i], n == 1);
        if (n == 1) {
                sum.capacity_percent = units[0].battery.capacity_percent;
        } else if (n > 1) {
                double percent = level_percent(&sum);

                percent = isnan(percent) ? mean_percent(units, n) : percent;
                sum.have = isnan(percent) ? sum.have & ~(uint32_t)BATTERY_CAPACITY : sum.have | BATTERY_CAPACITY;
                sum.capacity_percent = isnan(percent) ? 0 : (uint32_t)percent;
        }
        sum.status = sum.said = sum_status(units, n, &flow);
        if (n > 0)
                sum_power(&flow, &sum);
        apply_supply(units, n, &sum);
        if (sum.status == BATTERY_DISCHARGING && sum.power_uw < BATTERY_POWER_MIN_UW)
                sum.have &= ~(uint32_t)BATTERY_POWER; /* all show no power: one takes over from another just now */
        *ret = sum;
}
