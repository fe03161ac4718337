/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decides which units are batteries of this machine, which supplies feed it, and which levels to believe. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "battery-private.h"
#include "util/util.h"
#include "util/words.h"

#define OVERFULL 1.25           /* a level above this times the full charge is wrong */
#define MANY 3.0                /* a full charge above this times its design is wrong */
#define CONTRADICTS_PERCENT 5.0 /* gauges smooth their percentage, and some hide a reserve at both ends */
#define SAME_PERCENT 1.0
#define DERIVE_PERCENT 10       /* below this a percentage, which is rounded down, is too coarse to divide by */
#define TWIN_PERCENT 5          /* each driver estimates the percentage in its own way */
#define TWIN_UV 50000           /* two drivers read one battery at different moments */
#define TWIN_FULL 0.02          /* both count the same */
#define TWIN_ENERGY 0.15        /* one counts energy, the other charge */

/* Distance in percentage points between a level and a percentage that is rounded down. */
static double contradiction(double level_percent, uint32_t capacity_percent)
{
        double low = capacity_percent, high = MIN(capacity_percent + 1, 100u);

        level_percent = fmin(level_percent, 100);
        return level_percent < low ? low - level_percent : fmax(level_percent - high, 0);
}

static bool has(const struct battery_unit *unit, uint32_t bit)
{
        return unit->battery.have & bit;
}

static void drop(struct battery_unit *unit, uint32_t bits)
{
        unit->battery.have &= ~bits;
}

static bool is_above_design(struct battery_levels_of levels)
{
        return *levels.design > 0 && (double)*levels.full > OVERFULL * (double)*levels.design;
}

/*
 * Drops a full charge that comes from another register, or is in another unit. A percentage that was calculated from it
 * is dropped, too, and so is a level of 0: that unit is dead.
 */
static void judge_full(struct battery_unit *unit, const struct battery_scale *scale, struct battery_levels_of levels)
{
        double design = (double)*levels.design, full = (double)*levels.full, percent;

        if (!has(unit, scale->have_full) || !is_above_design(levels))
                return;
        battery_quirk(unit, "%s is far above its design: %llu", scale->full_key, (unsigned long long)*levels.full);
        if (full <= MANY * design)
                return;
        percent = has(unit, scale->have_now) ? 100 * (double)*levels.now / full : NAN;
        drop(unit, scale->have_full | (percent > 0 ? 0 : scale->have_now));
        if (!isnan(percent) && has(unit, BATTERY_CAPACITY) &&
            contradiction(percent, unit->battery.capacity_percent) <= SAME_PERCENT)
                drop(unit, BATTERY_CAPACITY);
        unit->full_unknown |= scale->have_full;
}

/* Replaces a full charge of 0, or one that is not shown: by the level and its percentage, else by the design. */
static void derive_full(struct battery_unit *unit, const struct battery_scale *scale, struct battery_levels_of levels)
{
        double percent = unit->battery.capacity_percent, design = (double)*levels.design, full = 0;

        if (has(unit, scale->have_full) || !(unit->full_unknown & scale->have_full))
                return;
        if (has(unit, scale->have_now) && has(unit, BATTERY_CAPACITY) && percent >= DERIVE_PERCENT)
                full = 100 * (double)*levels.now / fmin(percent + 0.5, 100);
        if (full < (double)scale->min || full > (double)scale->max || (design > 0 && full > OVERFULL * design))
                full = design;
        if (full == 0)
                return;
        *levels.full = (uint64_t)full;
        unit->battery.have |= scale->have_full;
}

static void judge_now(struct battery_unit *unit, const struct battery_scale *scale, struct battery_levels_of levels)
{
        double full = (double)(has(unit, scale->have_full) ? *levels.full : *levels.design), now = (double)*levels.now;
        uint32_t wrong = is_above_design(levels) ? scale->have_full : scale->have_now;

        if (!has(unit, scale->have_now))
                return;
        if (full > 0 && now > OVERFULL * full) {
                battery_quirk(unit, "%s is far above full: %llu", scale->now_key, (unsigned long long)*levels.now);
                drop(unit, scale->have_now);
        } else if (full == 0 && now > 0 && *levels.now < scale->min) {
                /* It may be an almost empty battery or a full one in mAh. */
                battery_quirk(unit, "%s is in a wrong unit, or almost nothing of an unknown full: %llu", scale->now_key,
                              (unsigned long long)*levels.now);
                drop(unit, scale->have_now);
        } else if (now == 0 && !has(unit, scale->have_full)) {
                /* 0 of 0: the gauge has lost its memory, or the unit is dead. */
                drop(unit, scale->have_now | (unit->battery.capacity_percent == 0 ? BATTERY_CAPACITY : 0));
        } else if (has(unit, scale->have_full) && has(unit, BATTERY_CAPACITY) &&
                   contradiction(100 * now / full, unit->battery.capacity_percent) > CONTRADICTS_PERCENT) {
                battery_quirk(unit, "%s is %.0f %% of full, but CAPACITY says %u %%: CAPACITY counts", scale->now_key,
                              100 * now / full, unit->battery.capacity_percent);
                drop(unit, wrong);
                unit->full_unknown |= wrong & scale->have_full;
        }
}

static void judge_levels(struct battery_unit *unit)
{
        double percent;

        for (size_t i = 0; i < BATTERY_SCALES; i++) {
                const struct battery_scale *scale = &battery_scales[i];
                struct battery_levels_of levels = battery_levels_of(unit, i);

                judge_full(unit, scale, levels);
                judge_now(unit, scale, levels);
                derive_full(unit, scale, levels);
        }
        percent = battery_fine_percent(&unit->battery);
        if (!has(unit, BATTERY_CAPACITY) && !isnan(percent)) {
                unit->battery.have |= BATTERY_CAPACITY;
                unit->battery.capacity_percent = (uint32_t)percent;
        }
}

/* Batteries of a machine mostly have the same number of cells: if one shows no voltage, another's is taken. */
static void add_energies(struct battery_unit *unit, uint64_t others_uv)
{
        const struct battery *battery = &unit->battery;
        uint64_t mv = (has(unit, BATTERY_VOLTAGE) ? battery_nominal_uv(battery) : others_uv) / 1000;

        unit->energy_have = battery->have & (BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL);
        unit->energy_now_uwh = battery->energy_now_uwh;
        unit->energy_full_uwh = battery->energy_full_uwh;
        if (mv && !has(unit, BATTERY_ENERGY_NOW) && has(unit, BATTERY_CHARGE_NOW)) {
                unit->energy_now_uwh = battery->charge_now_uah * mv / 1000;
                unit->energy_have |= BATTERY_ENERGY_NOW;
        }
        if (mv && !has(unit, BATTERY_ENERGY_FULL) && has(unit, BATTERY_CHARGE_FULL)) {
                unit->energy_full_uwh = battery->charge_full_uah * mv / 1000;
                unit->energy_have |= BATTERY_ENERGY_FULL;
        }
}

static uint64_t highest_uv(const struct battery_unit *units, size_t n)
{
        uint64_t highest = 0;

        for (size_t i = 0; i < n; i++)
                if (units[i].role == ROLE_BATTERY && has(&units[i], BATTERY_VOLTAGE))
                        highest = MAX(highest, battery_nominal_uv(&units[i].battery));
        return highest;
}

/* Name prefixes of the batteries of mice, pens, headsets and gamepads, whose drivers may not show a scope. */
static const char *const devices[] = {
        "hid-", "hidpp_battery_", "wacom_", "sony_controller_battery_", "ps-controller-battery-",
        "nintendo_switch_controller_",
        "steam-controller-", "xpadneo_", "gip", "wiimote_battery_", "corsair-", "steelseries_",
};

static bool is_like_a_device(const struct battery_unit *unit)
{
        for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
                if (strncmp(unit->name, devices[i], strlen(devices[i])) == 0)
                        return true;
        return unit->shows & SHOWS_CONNECTION;
}

/* Why a unit is left out, whatever others there are; NULL: it is not. */
static const char *why_alone(const struct battery_unit *unit)
{
        return unit->of_another_type ? N_("its type is not Battery") :
               unit->of_device ? N_("it belongs to a device beside this machine: its scope is Device") :
               unit->away ? N_("its bay is empty: PRESENT is 0") :
               !(unit->shows & SHOWS_LEVEL) ?
                       N_("it shows no charge: it is a charger's chip, or its driver cannot read it") :
               !(unit->shows & SHOWS_ELECTRIC) && is_like_a_device(unit) ?
                       N_("it shows a percentage alone, as mice, pens and headsets do") : NULL;
}

/* A unit without a level, or a dead one, empty and without voltage, beside one that has it. */
static bool holds_nothing(const struct battery_unit *unit, const struct battery_unit *other)
{
        bool dead = unit->battery.capacity_percent == 0 && !has(unit, BATTERY_VOLTAGE) && has(other, BATTERY_VOLTAGE);

        return (dead || !has(unit, BATTERY_CAPACITY)) && has(other, BATTERY_CAPACITY);
}

static bool has_no_weight(const struct battery_unit *unit, const struct battery_unit *other)
{
        return !(unit->energy_have & BATTERY_ENERGY_FULL) && other->energy_have & BATTERY_ENERGY_FULL &&
               has(other, BATTERY_CAPACITY);
}

/* A driver shows each of its batteries once: their names differ by a number, or in the last letter (BATA, BATB). */
static bool is_of_same_driver(const char *a, const char *b)
{
        do {
                a += strspn(a, "0123456789");
                b += strspn(b, "0123456789");
        } while (*a && *b && *a++ == *b++);
        return !*a && !*b;
}

static bool is_near(uint64_t a, uint64_t b, double tolerance)
{
        return fabs((double)a - (double)b) <= tolerance * (double)MAX(a, b);
}

static bool holds_same(const struct battery_unit *a, const struct battery_unit *b)
{
        uint32_t both = a->battery.have & b->battery.have;

        if (both & BATTERY_CHARGE_FULL)
                return is_near(a->battery.charge_full_uah, b->battery.charge_full_uah, TWIN_FULL);
        if (a->energy_have & b->energy_have & BATTERY_ENERGY_FULL)
                return is_near(a->energy_full_uwh, b->energy_full_uwh,
                               both & BATTERY_ENERGY_FULL ? TWIN_FULL : TWIN_ENERGY);
        return both & BATTERY_VOLTAGE;
}

static bool is_twin(const struct battery_unit *a, const struct battery_unit *b)
{
        uint32_t both = a->battery.have & b->battery.have;
        int32_t apart = (int32_t)a->battery.capacity_percent - (int32_t)b->battery.capacity_percent;

        return !is_of_same_driver(a->name, b->name) && both & BATTERY_CAPACITY && abs(apart) <= TWIN_PERCENT &&
               holds_same(a, b) &&
               (!(both & BATTERY_VOLTAGE) ||
                fabs((double)a->battery.voltage_uv - (double)b->battery.voltage_uv) <= TWIN_UV);
}

/* Two drivers may show one battery: the unit with more values stays. */
static bool is_shown_twice(const struct battery_unit *unit, const struct battery_unit *other)
{
        int more = __builtin_popcount(other->battery.have) - __builtin_popcount(unit->battery.have);

        return is_twin(unit, other) && (more > 0 || (more == 0 && strcmp(other->name, unit->name) < 0));
}

/* Rules in this order, after why_alone(), by which a unit is left out because of another that counts. */
static const struct {
        bool (*applies)(const struct battery_unit *unit, const struct battery_unit *other);
        const char *why;
} rules[] = {
        { holds_nothing, N_("it shows no usable full charge or level") },
        { has_no_weight, N_("it does not show its full charge, and another battery does") },
        { is_shown_twice, N_("another driver shows the same battery, and more of it") },
};

static void leave_out(struct battery_unit *unit, const char *why)
{
        unit->role = ROLE_LEFT_OUT;
        unit->why = why;
}

static void apply_rules(struct battery_unit *units, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (units[i].role == ROLE_BATTERY && why_alone(&units[i]))
                        leave_out(&units[i], why_alone(&units[i]));
        for (size_t rule = 0; rule < ARRAY_SIZE(rules); rule++)
                for (size_t i = 0; i < n; i++)
                        for (size_t k = 0; k < n && units[i].role == ROLE_BATTERY; k++)
                                if (k != i && units[k].role == ROLE_BATTERY &&
                                    rules[rule].applies(&units[i], &units[k]))
                                        leave_out(&units[i], rules[rule].why);
}

/*
 * Some supplies stay online after they were unplugged: USB ports, or one of two mains supplies. If a mains supply is
 * offline, the batteries' own words count; but not Discharging without power, as some say at their charge limit. A
 * supply whose `online` cannot be read is ignored.
 */
static enum supply_state judge_supplies(const struct battery_unit *units, size_t n)
{
        bool seen = false, online = false, on_pad = false, unplugged = false, words = false;

        for (size_t i = 0; i < n; i++) {
                const struct battery_unit *unit = &units[i];

                words |= unit->battery.status != BATTERY_UNKNOWN && (!unit->rests || has(unit, BATTERY_POWER));
                if (unit->role == ROLE_BATTERY || unit->role == ROLE_LEFT_OUT || unit->of_device ||
                    !(unit->shows & SHOWS_CONNECTION))
                        continue;
                seen = true;
                online |= unit->online;
                on_pad |= unit->online && unit->role == ROLE_WIRELESS;
                unplugged |= !unit->online && unit->role == ROLE_MAINS;
        }
        if (!online)
                return seen ? SUPPLY_OFFLINE : SUPPLY_UNKNOWN;
        return unplugged && words && !on_pad ? SUPPLY_UNKNOWN : SUPPLY_ONLINE;
}

/* A sensor that shows nothing while a unit discharges is broken; beside a supply it is right. */
static void judge_rest(struct battery_unit *unit)
{
        if (!unit->rests)
                return;
        if (unit->supply == SUPPLY_ONLINE && !unit->forced)
                unit->battery.have |= BATTERY_POWER; /* 0, if no other sensor shows it */
        else
                battery_quirk(unit, unit->rests_at ? "%s is too small while discharging, or in a wrong unit: %lld" :
                                                     "%s is %lld while discharging",
                              unit->rests, (long long)unit->rests_at);
}

static int compare_units(const void *a, const void *b)
{
        const struct battery_unit *one = a, *other = b;

        return one->role != other->role ? (int)one->role - (int)other->role : strcmp(one->name, other->name);
}

void battery_judge(struct battery_unit *units, size_t n)
{
        enum supply_state supply = judge_supplies(units, n);
        uint64_t others_uv = highest_uv(units, n);

        for (size_t i = 0; i < n; i++) {
                units[i].supply = supply;
                judge_levels(&units[i]);
                add_energies(&units[i], others_uv);
                judge_rest(&units[i]);
        }
        apply_rules(units, n);
        if (n > 1)
                qsort(units, n, sizeof(*units), compare_units);
}
