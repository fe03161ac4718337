/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the words and numbers of a battery mean, and which of them to believe. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "battery.h"
#include "util/util.h"
#include "util/words.h"

#define PREFIX "POWER_SUPPLY_"

/*
 * What a battery of a portable device can show. Wide enough for a watch (a fifth of a Wh) and an e-bike;
 * narrow enough to see that somebody wrote mV, mA or mAh.
 */
#define VOLTAGE_MIN_UV 1500000
#define VOLTAGE_MAX_UV 100000000
#define CHARGE_MIN_UAH 20000
#define CHARGE_MAX_UAH 1000000000
#define ENERGY_MIN_UWH 70000
#define ENERGY_MAX_UWH 10000000000
#define CURRENT_MAX_UA 100000000
#define POWER_MAX_UW 1000000000
#define CURRENT_MIN_UA 2000  /* no device that runs this program lives on less */
#define POWER_MIN_UW 5000
#define OVERFULL 1.25        /* charge_now beyond this times charge_full is no charge */
#define POWER_RATIO 3.0      /* power_now this far from current_now x voltage_now, either way, is in another unit */
#define CAPACITY_SLACK 10    /* percent: gauges that learn a new full overshoot a little */
#define TEMP_MIN_DC (-400)
#define TEMP_MAX_DC 1000

static void quirk(struct battery_unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void quirk(struct battery_unit *unit, const char *format, ...)
{
        char text[256];
        va_list arguments;

        if (unit->n_quirks == BATTERY_QUIRKS_MAX)
                return;
        va_start(arguments, format);
        vsnprintf(text, sizeof(text), _(format), arguments);
        va_end(arguments);
        util_printable(text, unit->quirks[unit->n_quirks++], sizeof(unit->quirks[0]));
}

/* The value of a key, or false. */
static bool find(const char *uevent, const char *key, char *value, size_t size)
{
        size_t length = strlen(key);

        for (const char *line = uevent; line; line = strchr(line, '\n')) {
                size_t n;

                line += *line == '\n';
                if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 ||
                    strncmp(line + strlen(PREFIX), key, length) != 0 || line[strlen(PREFIX) + length] != '=')
                        continue;
                line += strlen(PREFIX) + length + 1;
                n = strcspn(line, "\n");
                snprintf(value, size, "%.*s", (int)MIN(n, size - 1), line);
                return true;
        }
        return false;
}

enum found { MISSING, BAD, GOOD };

/* A whole number of either sign. An error quotes only the beginning of the text. */
static enum found find_number(struct battery_unit *unit, const char *uevent, const char *key, int64_t *ret)
{
        char value[64];

        if (!find(uevent, key, value, sizeof(value)))
                return MISSING;
        if (util_parse_i64(value, ret) == 0)
                return GOOD;
        quirk(unit, "%s is no number: \"%.24s\"", key, value);
        return BAD;
}

/* A level, in the range of a full battery or of a voltage; @zero: 0 is allowed, too. */
static bool find_level(struct battery_unit *unit, const char *uevent, const char *key, int64_t min,
                       int64_t max, bool zero, uint64_t *ret)
{
        int64_t value;

        if (find_number(unit, uevent, key, &value) != GOOD)
                return false;
        if (value < 0 || value > max || (value < min && !(zero && value >= 0))) {
                quirk(unit, "%s is out of range, or in a wrong unit: %lld", key, (long long)value);
                return false;
        }
        *ret = (uint64_t)value;
        return true;
}

static void parse_status(struct battery_unit *unit, const char *uevent)
{
        static const struct {
                const char *word;
                enum battery_status status;
        } words[] = {
                { "Unknown", BATTERY_UNKNOWN },           { "Discharging", BATTERY_DISCHARGING },
                { "Charging", BATTERY_CHARGING },         { "Not charging", BATTERY_NOT_CHARGING },
                { "Full", BATTERY_FULL },
        };
        char value[64] = "";

        find(uevent, "STATUS", value, sizeof(value));
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (strcmp(value, words[i].word) == 0) {
                        unit->battery.status = words[i].status;
                        return;
                }
        }
        if (*value)
                quirk(unit, "STATUS is no word of the kernel's: \"%.24s\"", value);
        else
                quirk(unit, "STATUS is missing");
}

/*
 * A level just above 0 may be an almost empty battery or a full one in mAh:
 * without a full to compare it is neither.
 */
static bool too_small(struct battery_unit *unit, const char *key, uint64_t now, uint64_t min, uint64_t full)
{
        if (full > 0 || now == 0 || now >= min)
                return false;
        quirk(unit, "%s is in a wrong unit, or almost nothing of an unknown full: %llu", key,
              (unsigned long long)now);
        return true;
}

/* Design first, where the gauge does not show today's full charge. */
static void parse_charge(struct battery_unit *unit, const char *uevent)
{
        struct battery *battery = &unit->battery;
        uint64_t design = 0, full;
        bool has_design = find_level(unit, uevent, "CHARGE_FULL_DESIGN", CHARGE_MIN_UAH, CHARGE_MAX_UAH,
                                     false, &design);

        unit->charge_full_design_uah = design;
        if (find_level(unit, uevent, "CHARGE_FULL", CHARGE_MIN_UAH, CHARGE_MAX_UAH, false,
                       &battery->charge_full_uah))
                battery->have |= BATTERY_CHARGE_FULL;
        if ((battery->have & BATTERY_CHARGE_FULL) && has_design &&
            (double)battery->charge_full_uah > OVERFULL * (double)design)
                quirk(unit, "CHARGE_FULL is far above its design: %llu",
                      (unsigned long long)battery->charge_full_uah);
        if (!find_level(unit, uevent, "CHARGE_NOW", CHARGE_MIN_UAH, CHARGE_MAX_UAH, true,
                        &battery->charge_now_uah))
                return;
        full = battery->have & BATTERY_CHARGE_FULL ? battery->charge_full_uah : design;
        if (full > 0 && (double)battery->charge_now_uah > OVERFULL * (double)full) {
                quirk(unit, "CHARGE_NOW is far above full: %llu",
                      (unsigned long long)battery->charge_now_uah);
                return;
        }
        if (too_small(unit, "CHARGE_NOW", battery->charge_now_uah, CHARGE_MIN_UAH, full))
                return;
        battery->have |= BATTERY_CHARGE_NOW;
}

static void parse_energy(struct battery_unit *unit, const char *uevent)
{
        struct battery *battery = &unit->battery;
        uint64_t design = 0, full;
        bool has_design = find_level(unit, uevent, "ENERGY_FULL_DESIGN", ENERGY_MIN_UWH, ENERGY_MAX_UWH,
                                     false, &design);

        unit->energy_full_design_uwh = design;
        if (find_level(unit, uevent, "ENERGY_FULL", ENERGY_MIN_UWH, ENERGY_MAX_UWH, false,
                       &battery->energy_full_uwh))
                battery->have |= BATTERY_ENERGY_FULL;
        if ((battery->have & BATTERY_ENERGY_FULL) && has_design &&
            (double)battery->energy_full_uwh > OVERFULL * (double)design)
                quirk(unit, "ENERGY_FULL is far above its design: %llu",
                      (unsigned long long)battery->energy_full_uwh);
        if (!find_level(unit, uevent, "ENERGY_NOW", ENERGY_MIN_UWH, ENERGY_MAX_UWH, true,
                        &battery->energy_now_uwh))
                return;
        full = battery->have & BATTERY_ENERGY_FULL ? battery->energy_full_uwh : design;
        if (full > 0 && (double)battery->energy_now_uwh > OVERFULL * (double)full) {
                quirk(unit, "ENERGY_NOW is far above full: %llu",
                      (unsigned long long)battery->energy_now_uwh);
                return;
        }
        if (too_small(unit, "ENERGY_NOW", battery->energy_now_uwh, ENERGY_MIN_UWH, full))
                return;
        battery->have |= BATTERY_ENERGY_NOW;
}

static bool from_levels(const struct battery *battery, double *percent)
{
        if ((battery->have & BATTERY_CHARGE_NOW) && (battery->have & BATTERY_CHARGE_FULL))
                *percent = 100.0 * (double)battery->charge_now_uah / (double)battery->charge_full_uah;
        else if ((battery->have & BATTERY_ENERGY_NOW) && (battery->have & BATTERY_ENERGY_FULL))
                *percent = 100.0 * (double)battery->energy_now_uwh / (double)battery->energy_full_uwh;
        else
                return false;
        return true;
}

static void parse_capacity(struct battery_unit *unit, const char *uevent)
{
        struct battery *battery = &unit->battery;
        double percent;
        int64_t value;
        enum found found = find_number(unit, uevent, "CAPACITY", &value);

        if (found == GOOD && value > 100)
                quirk(unit, "CAPACITY is over 100: %lld", (long long)value);
        if (found == GOOD && value < 0)
                quirk(unit, "CAPACITY is negative: %lld", (long long)value);
        if (found == GOOD && value >= 0 && value <= 100 + CAPACITY_SLACK) {
                battery->have |= BATTERY_CAPACITY;
                battery->capacity_percent = (uint32_t)MIN(value, 100);
        } else if (from_levels(battery, &percent)) {
                battery->have |= BATTERY_CAPACITY;
                battery->capacity_percent = (uint32_t)MIN(percent, 100);
        }
}

/* Drivers differ in the sign: the status decides the direction, this the magnitude. */
static bool parse_flow(struct battery_unit *unit, const char *uevent, const char *key, uint64_t min,
                       uint64_t max, uint64_t *ret)
{
        int64_t value;
        uint64_t magnitude;

        if (find_number(unit, uevent, key, &value) != GOOD)
                return false;
        magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
        if (magnitude > max) {
                quirk(unit, "%s is out of range, or in a wrong unit: %lld", key, (long long)value);
                return false;
        }
        if (unit->battery.status == BATTERY_DISCHARGING && magnitude < min) {
                quirk(unit, magnitude ? "%s is too small while discharging, or in a wrong unit: %lld"
                                      : "%s is %lld while discharging",
                      key, (long long)value);
                return false;
        }
        if (unit->battery.status == BATTERY_UNKNOWN && magnitude < min)
                return false; /* at rest beside another battery, or a gauge that does not know */
        *ret = magnitude;
        return true;
}

static bool parse_volts_amperes(struct battery_unit *unit, const char *uevent, uint64_t *ret,
                                uint64_t *current_ua)
{
        if (!parse_flow(unit, uevent, "CURRENT_NOW", CURRENT_MIN_UA, CURRENT_MAX_UA, current_ua) ||
            !(unit->battery.have & BATTERY_VOLTAGE))
                return false;
        *ret = *current_ua * (unit->battery.voltage_uv / 1000) / 1000;
        if (*ret <= POWER_MAX_UW)
                return true;
        quirk(unit, "CURRENT_NOW times VOLTAGE_NOW is out of range: %llu uW", (unsigned long long)*ret);
        return false;
}

/*
 * power_now is taken, unless it is far from current times voltage: both would have to be wrong, and in range, to
 * mislead; a handheld has shipped with a power_now of ten times the truth (68 W).
 */
static void parse_power(struct battery_unit *unit, const char *uevent)
{
        struct battery *battery = &unit->battery;
        uint64_t power_uw = 0, product_uw = 0, current_ua = 0;
        bool power = parse_flow(unit, uevent, "POWER_NOW", POWER_MIN_UW, POWER_MAX_UW, &power_uw);
        bool product = parse_volts_amperes(unit, uevent, &product_uw, &current_ua);
        double ratio = power && product && power_uw && product_uw ? (double)power_uw / (double)product_uw : 1;

        if (ratio > POWER_RATIO || ratio < 1 / POWER_RATIO) {
                quirk(unit, "POWER_NOW of %llu is far from CURRENT_NOW times VOLTAGE_NOW",
                      (unsigned long long)power_uw);
                power = false;
        }
        if (!power && !product)
                return;
        battery->power_uw = power ? power_uw : product_uw;
        battery->current_ua = power ? 0 : current_ua;
        battery->have |= BATTERY_POWER;
}

/* At which level charging ends, and whether the firmware can discharge on the charger. */
static void parse_control(struct battery_unit *unit, const char *uevent)
{
        char value[128];
        uint64_t percent;

        if (find(uevent, "CHARGE_CONTROL_END_THRESHOLD", value, sizeof(value)) &&
            util_parse_u64(value, &percent) == 0 && percent > 0 && percent < 100)
                unit->charge_limit_percent = (uint32_t)percent;
        if (unit->charge_limit_percent && find(uevent, "CHARGE_CONTROL_START_THRESHOLD", value, sizeof(value)) &&
            util_parse_u64(value, &percent) == 0 && percent > 0 && percent <= unit->charge_limit_percent)
                unit->charge_start_percent = (uint32_t)percent;
        if (find(uevent, "CHARGE_BEHAVIOUR", value, sizeof(value)))
                unit->force_discharge = strstr(value, "force-discharge") != NULL;
}

static void parse_temperature(struct battery_unit *unit, const char *uevent)
{
        int64_t value;

        if (find_number(unit, uevent, "TEMP", &value) != GOOD)
                return;
        if (value < TEMP_MIN_DC || value > TEMP_MAX_DC) {
                quirk(unit, "TEMP is out of range, or in a wrong unit: %lld", (long long)value);
                return;
        }
        unit->battery.have |= BATTERY_TEMPERATURE;
        unit->battery.temperature_dc = (int32_t)value;
}

static uint64_t energy_of(const struct battery *battery, uint64_t charge_uah)
{
        return charge_uah * (battery->voltage_uv / 1000) / 1000;
}

static void add_energies(struct battery_unit *unit)
{
        const struct battery *battery = &unit->battery;
        bool volts = battery->have & BATTERY_VOLTAGE;

        if (battery->have & BATTERY_ENERGY_NOW) {
                unit->energy_now_uwh = battery->energy_now_uwh;
                unit->energy_have |= BATTERY_ENERGY_NOW;
        } else if ((battery->have & BATTERY_CHARGE_NOW) && volts) {
                unit->energy_now_uwh = energy_of(battery, battery->charge_now_uah);
                unit->energy_have |= BATTERY_ENERGY_NOW;
        }
        if (battery->have & BATTERY_ENERGY_FULL) {
                unit->energy_full_uwh = battery->energy_full_uwh;
                unit->energy_have |= BATTERY_ENERGY_FULL;
        } else if ((battery->have & BATTERY_CHARGE_FULL) && volts) {
                unit->energy_full_uwh = energy_of(battery, battery->charge_full_uah);
                unit->energy_have |= BATTERY_ENERGY_FULL;
        }
}

/*
 * Type Battery, not of another device. Old kernels' uevents lack the type: then whatever has a capacity or a level.
 */
static bool is_our_battery(const char *uevent)
{
        char value[32];

        if (find(uevent, "TYPE", value, sizeof(value))) {
                if (strcmp(value, "Battery") != 0)
                        return false;
        } else if (!find(uevent, "CAPACITY", value, sizeof(value)) &&
                   !find(uevent, "CHARGE_NOW", value, sizeof(value)) &&
                   !find(uevent, "ENERGY_NOW", value, sizeof(value))) {
                return false;
        }
        if (find(uevent, "SCOPE", value, sizeof(value)) && strcmp(value, "Device") == 0)
                return false;
        return !find(uevent, "PRESENT", value, sizeof(value)) || strcmp(value, "0") != 0;
}

bool battery_parse(const char *uevent, struct battery_unit *ret)
{
        *ret = (struct battery_unit){ 0 };
        if (!is_our_battery(uevent))
                return false;
        parse_status(ret, uevent);
        if (find_level(ret, uevent, "VOLTAGE_NOW", VOLTAGE_MIN_UV, VOLTAGE_MAX_UV, false,
                       &ret->battery.voltage_uv))
                ret->battery.have |= BATTERY_VOLTAGE;
        parse_charge(ret, uevent);
        parse_energy(ret, uevent);
        parse_capacity(ret, uevent);
        parse_power(ret, uevent);
        parse_temperature(ret, uevent);
        parse_control(ret, uevent);
        add_energies(ret);
        return true;
}

/* If any discharges, the sum discharges: the others rest meanwhile, whatever their status. */
static enum battery_status sum_status(const struct battery_unit *units, size_t n)
{
        static const enum battery_status order[] = { BATTERY_DISCHARGING, BATTERY_CHARGING,
                                                     BATTERY_NOT_CHARGING, BATTERY_FULL };

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                for (size_t j = 0; j < n; j++)
                        if (units[j].battery.status == order[i])
                                return order[i];
        return BATTERY_UNKNOWN;
}

static bool is_active(const struct battery *battery)
{
        return battery->status == BATTERY_DISCHARGING || battery->status == BATTERY_CHARGING;
}

/*
 * Percents of batteries of different sizes without a common gauge, weighted by what each holds, where all show
 * that.
 */
static double weight_of(const struct battery_unit *units, size_t n, size_t i)
{
        bool weighed = true;

        for (size_t k = 0; k < n; k++)
                weighed = weighed && units[k].energy_have & BATTERY_ENERGY_FULL;
        return weighed ? (double)units[i].energy_full_uwh : 1;
}

static uint32_t mean_capacity(const struct battery_unit *units, size_t n)
{
        double sum = 0, weights = 0;

        for (size_t i = 0; i < n; i++) {
                double weight = weight_of(units, n, i);

                sum += weight * units[i].battery.capacity_percent;
                weights += weight;
        }
        return weights > 0 ? (uint32_t)(sum / weights) : 0;
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

void battery_sum(const struct battery_unit *units, size_t n, struct battery *ret)
{
        struct battery sum = { .have = n ? UINT32_MAX : 0, .status = sum_status(units, n) };
        double percent;

        for (size_t i = 0; i < n; i++) {
                const struct battery *battery = &units[i].battery;

                sum.have &= battery->have | (n > 1 && !is_active(battery) ? BATTERY_POWER : 0);
                sum.charge_now_uah += battery->charge_now_uah;
                sum.charge_full_uah += battery->charge_full_uah;
                sum.energy_now_uwh += battery->energy_now_uwh;
                sum.energy_full_uwh += battery->energy_full_uwh;
                sum.voltage_uv += battery->voltage_uv;
                sum.power_uw += battery->have & BATTERY_POWER ? battery->power_uw : 0;
                sum.current_ua += battery->have & BATTERY_POWER ? battery->current_ua : 0;
                sum.temperature_dc =
                        i ? MAX(sum.temperature_dc, battery->temperature_dc) : battery->temperature_dc;
        }
        sum.voltage_uv /= MAX(n, 1u);
        sum.capacity_percent = mean_capacity(units, n);
        if (n > 1 && from_levels(&sum, &percent)) {
                sum.have |= BATTERY_CAPACITY;
                sum.capacity_percent = (uint32_t)MIN(percent, 100);
        }
        *ret = sum;
}
