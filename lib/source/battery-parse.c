/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the words and numbers of one unit. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "battery-private.h"
#include "util/util.h"
#include "util/words.h"

/*
 * Limits for a battery of a portable device. They are wide enough for a watch (a fifth of a Wh) and an e-bike, and
 * narrow enough to detect values in mV, mA or mAh.
 */
#define VOLTAGE_MIN_UV 1500000
#define VOLTAGE_MAX_UV 100000000
#define CURRENT_MAX_UA 100000000
#define POWER_MAX_UW 1000000000
#define POWER_RATIO 3.0      /* power_now this far from current_now x voltage_now, either way, is in another unit */
/* If a full charge is in mAh or mWh, smaller readings than this times the minimum may be in mA or mW (40 A, 100 W). */
#define THOUSANDTHS_RATIO 20
#define CAPACITY_SLACK 10    /* percent: gauges overshoot a little when they learn a new full charge */
#define TEMP_MIN_DC (-400)
#define TEMP_MAX_DC 1000

const struct battery_scale battery_scales[BATTERY_SCALES] = {
        { "CHARGE_NOW", "CHARGE_FULL", "CHARGE_FULL_DESIGN", 20000, 1000000000,
          BATTERY_CHARGE_NOW, BATTERY_CHARGE_FULL },
        { "ENERGY_NOW", "ENERGY_FULL", "ENERGY_FULL_DESIGN", 70000, 10000000000,
          BATTERY_ENERGY_NOW, BATTERY_ENERGY_FULL },
};

struct battery_levels_of battery_levels_of(struct battery_unit *unit, size_t scale)
{
        struct battery *battery = &unit->battery;

        return scale == 0 ? (struct battery_levels_of){ &battery->charge_now_uah, &battery->charge_full_uah,
                                                        &unit->charge_full_design_uah }
                          : (struct battery_levels_of){ &battery->energy_now_uwh, &battery->energy_full_uwh,
                                                        &unit->energy_full_design_uwh };
}

void battery_quirk(struct battery_unit *unit, const char *format, ...)
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

bool battery_find(const char *uevent, const char *key, char *value, size_t size)
{
        char begin[64];
        size_t length = (size_t)snprintf(begin, sizeof(begin), BATTERY_PREFIX "%s=", key);

        for (const char *line = uevent; line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, begin, length) != 0)
                        continue;
                line += length;
                snprintf(value, size, "%.*s", (int)MIN(strcspn(line, "\n"), size - 1), line);
                return true;
        }
        return false;
}

/* Has the key this word as its value? */
static bool is_word(const char *uevent, const char *key, const char *word)
{
        char value[32];

        return battery_find(uevent, key, value, sizeof(value)) && strcmp(value, word) == 0;
}

/* A whole number of either sign. An error quotes only the beginning of the text. */
static bool find_number(struct battery_unit *unit, const char *uevent, const char *key, int64_t *ret)
{
        char value[64];

        if (!battery_find(uevent, key, value, sizeof(value)))
                return false;
        if (util_parse_i64(value, ret) == 0)
                return true;
        battery_quirk(unit, "%s is no number: \"%.24s\"", key, value);
        return false;
}

/*
 * A number in the range of a full battery, a voltage, a current and so on. A 16-bit register with an unknown value
 * holds its largest number, which drivers multiply by 1000 or 10000.
 */
static bool find_ranged(struct battery_unit *unit, const char *uevent, const char *key, int64_t min, int64_t max,
                        int64_t *ret)
{
        if (!find_number(unit, uevent, key, ret))
                return false;
        if (*ret >= min && *ret <= max && llabs(*ret) != 65535000 && llabs(*ret) != 655350000)
                return true;
        battery_quirk(unit, "%s is out of range, or in a wrong unit: %lld", key, (long long)*ret);
        return false;
}

/* A level, or its average if a driver shows that alone. */
static bool find_level(struct battery_unit *unit, const char *uevent, const char *key, int64_t min, int64_t max,
                       uint64_t *ret)
{
        char text[64], average[32];
        const char *now = strstr(key, "_NOW");
        int64_t value;

        snprintf(average, sizeof(average), "%.*s_AVG", (int)(now ? now - key : 0), key);
        if (now && !battery_find(uevent, key, text, sizeof(text)))
                key = average;
        if (!find_ranged(unit, uevent, key, min, max, &value))
                return false;
        *ret = (uint64_t)value;
        return true;
}

static void parse_status(struct battery_unit *unit, const char *uevent)
{
        static const char *const words[] = {
                [BATTERY_UNKNOWN] = "Unknown", [BATTERY_DISCHARGING] = "Discharging", [BATTERY_CHARGING] = "Charging",
                [BATTERY_NOT_CHARGING] = "Not charging", [BATTERY_FULL] = "Full",
        };
        char value[64] = "";

        battery_find(uevent, "STATUS", value, sizeof(value));
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (strcmp(value, words[i]) == 0) {
                        unit->battery.status = (enum battery_status)i;
                        return;
                }
        }
        if (*value)
                battery_quirk(unit, "STATUS is no word of the kernel's: \"%.24s\"", value);
        else
                battery_quirk(unit, "STATUS is missing");
}

static void parse_full(struct battery_unit *unit, const char *uevent, const struct battery_scale *scale, uint64_t *full)
{
        const struct battery_scale *other = &battery_scales[scale == battery_scales];
        char value[64], others[64];
        bool listed = battery_find(uevent, scale->full_key, value, sizeof(value));
        uint64_t shown;

        if (find_level(unit, uevent, scale->full_key, scale->min, scale->max, full))
                unit->battery.have |= scale->have_full;
        else if (listed && util_parse_u64(value, &shown) == 0 && shown > 0 && shown <= scale->min)
                unit->in_thousandths = true;
        else if (listed || !battery_find(uevent, other->full_key, others, sizeof(others)))
                unit->full_unknown |= scale->have_full; /* else the other scale has it */
}

static void parse_levels(struct battery_unit *unit, const char *uevent)
{
        for (size_t i = 0; i < BATTERY_SCALES; i++) {
                const struct battery_scale *scale = &battery_scales[i];
                struct battery_levels_of levels = battery_levels_of(unit, i);

                find_level(unit, uevent, scale->design_key, scale->min, scale->max, levels.design);
                parse_full(unit, uevent, scale, levels.full);
                if (find_level(unit, uevent, scale->now_key, 0, scale->max, levels.now)) /* 0: empty, or unknown */
                        unit->battery.have |= scale->have_now;
        }
}

static void parse_capacity(struct battery_unit *unit, const char *uevent)
{
        int64_t value;

        if (!find_number(unit, uevent, "CAPACITY", &value))
                return;
        if (value < 0 || value > 100)
                battery_quirk(unit, value < 0 ? "CAPACITY is negative: %lld" : "CAPACITY is over 100: %lld",
                              (long long)value);
        if (value < 0 || value > 100 + CAPACITY_SLACK)
                return;
        unit->battery.have |= BATTERY_CAPACITY;
        unit->battery.capacity_percent = (uint32_t)MIN(value, 100);
}

/* Drivers differ in the sign: the status decides the direction, this the magnitude. */
static bool parse_flow(struct battery_unit *unit, const char *uevent, const char *key, uint64_t min,
                       int64_t max, uint64_t *ret)
{
        int64_t value;
        uint64_t magnitude;

        min *= unit->in_thousandths ? THOUSANDTHS_RATIO : 1;
        if (!find_ranged(unit, uevent, key, -max, max, &value))
                return false;
        magnitude = (uint64_t)llabs(value);
        if (unit->battery.status == BATTERY_DISCHARGING && magnitude < min) {
                unit->rests = unit->rests ? unit->rests : key;
                unit->rests_at = value;
                return false;
        }
        if (unit->battery.status == BATTERY_UNKNOWN && magnitude < min)
                return false; /* the battery rests beside another one, or the gauge does not know */
        *ret = magnitude;
        return true;
}

static bool parse_volts_amperes(struct battery_unit *unit, const char *uevent, uint64_t *ret,
                                uint64_t *current_ua)
{
        if (!parse_flow(unit, uevent, "CURRENT_NOW", BATTERY_CURRENT_MIN_UA, CURRENT_MAX_UA, current_ua) ||
            !(unit->battery.have & BATTERY_VOLTAGE))
                return false;
        *ret = *current_ua * (unit->battery.voltage_uv / 1000) / 1000;
        if (*ret <= POWER_MAX_UW)
                return true;
        battery_quirk(unit, "CURRENT_NOW times VOLTAGE_NOW is out of range: %llu uW", (unsigned long long)*ret);
        return false;
}

/*
 * power_now counts, unless it is far from current times voltage: an error is missed only if both are wrong and in
 * range. A handheld has shipped with a power_now of ten times the true value (68 W).
 */
static void parse_power(struct battery_unit *unit, const char *uevent)
{
        struct battery *battery = &unit->battery;
        uint64_t power_uw = 0, product_uw = 0, current_ua = 0;
        bool power = parse_flow(unit, uevent, "POWER_NOW", BATTERY_POWER_MIN_UW, POWER_MAX_UW, &power_uw);
        bool product = parse_volts_amperes(unit, uevent, &product_uw, &current_ua);
        double ratio = power && product && power_uw && product_uw ? (double)power_uw / (double)product_uw : 1;

        if (ratio > POWER_RATIO || ratio < 1 / POWER_RATIO) {
                battery_quirk(unit, "POWER_NOW of %llu is far from CURRENT_NOW times VOLTAGE_NOW",
                      (unsigned long long)power_uw);
                power = false;
        }
        if (!power && !product)
                return;
        battery->power_uw = power ? power_uw : product_uw;
        battery->current_ua = power ? 0 : current_ua;
        battery->have |= BATTERY_POWER;
}

/* A percentage up to @most; 0: not shown. */
static uint32_t find_threshold(const char *uevent, const char *key, uint64_t most)
{
        char value[32];
        uint64_t percent;

        return battery_find(uevent, key, value, sizeof(value)) && util_parse_u64(value, &percent) == 0 &&
               percent <= most ? (uint32_t)percent : 0;
}

/* Parses the level at which charging ends, and whether the firmware can discharge on the charger. */
static void parse_control(struct battery_unit *unit, const char *uevent)
{
        char value[128] = "";

        unit->charge_limit_percent = find_threshold(uevent, "CHARGE_CONTROL_END_THRESHOLD", 99);
        unit->charge_start_percent = find_threshold(uevent, "CHARGE_CONTROL_START_THRESHOLD",
                                                    unit->charge_limit_percent);
        battery_find(uevent, "CHARGE_BEHAVIOUR", value, sizeof(value));
        unit->force_discharge = strstr(value, "force-discharge") != NULL;
        unit->forced = strstr(value, "[force-discharge]") != NULL || strcmp(value, "force-discharge") == 0;
}

static void parse_temperature(struct battery_unit *unit, const char *uevent)
{
        int64_t value;

        if (!find_ranged(unit, uevent, "TEMP", TEMP_MIN_DC, TEMP_MAX_DC, &value))
                return;
        unit->battery.have |= BATTERY_TEMPERATURE;
        unit->battery.temperature_dc = (int32_t)value;
}

/*
 * Values of `type`, or their beginnings. Vendors' kernels have more: BMS and Main are parts of a charger; HVDCP, DASH
 * and BrickID are ports; OTG feeds what is connected to the phone.
 */
static const struct {
        const char *type;
        enum battery_role role;
} types[] = {
        { "Battery", ROLE_BATTERY }, { "Mains", ROLE_MAINS }, { "USB", ROLE_USB }, { "Wireless", ROLE_WIRELESS },
        { "OTG", ROLE_LEFT_OUT },
};

/*
 * Old kernels show no type, and drivers that set none show "Unknown". Such a supply is a battery if it shows a level;
 * else it is a port if it shows `online`.
 */
static void parse_role(struct battery_unit *unit, const char *uevent)
{
        char type[32] = "Unknown";

        battery_find(uevent, "TYPE", type, sizeof(type));
        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                if (strncmp(type, types[i].type, strlen(types[i].type)) == 0) {
                        unit->role = types[i].role;
                        return;
                }
        }
        unit->of_another_type = strcmp(type, "Unknown") != 0;
        unit->role = unit->shows & SHOWS_LEVEL ? ROLE_BATTERY : unit->shows & SHOWS_CONNECTION ? ROLE_USB
                                                                                              : ROLE_LEFT_OUT;
}

static uint32_t parse_shows(const char *uevent)
{
        static const struct {
                uint32_t shows;
                const char *keys[6];
        } kinds[] = {
                { SHOWS_LEVEL, { "CAPACITY", "CAPACITY_LEVEL" } },
                { SHOWS_LEVEL | SHOWS_ELECTRIC, { "CHARGE_NOW", "ENERGY_NOW", "CHARGE_AVG", "ENERGY_AVG" } },
                { SHOWS_ELECTRIC, { "CHARGE_FULL", "ENERGY_FULL", "VOLTAGE_NOW", "CURRENT_NOW", "POWER_NOW" } },
                { SHOWS_CONNECTION, { "ONLINE" } },
        };
        char value[64];
        uint32_t shows = 0;

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                for (const char *const *key = kinds[i].keys; *key; key++)
                        if (battery_find(uevent, *key, value, sizeof(value)) && strcmp(value, "Unknown") != 0)
                                shows |= kinds[i].shows;
        return shows;
}

void battery_read_text(const char *uevent, struct battery_unit *ret)
{
        *ret = (struct battery_unit){ .shows = parse_shows(uevent) };
        parse_role(ret, uevent);
        ret->of_device = is_word(uevent, "SCOPE", "Device");
        ret->away = is_word(uevent, "PRESENT", "0");
        /* A USB port's `online` is 1 for fixed and 2 for programmable voltage. */
        ret->online = is_word(uevent, "ONLINE", "1") || is_word(uevent, "ONLINE", "2");
        if (ret->role != ROLE_BATTERY || ret->of_another_type || ret->of_device || ret->away)
                return;
        parse_status(ret, uevent);
        if (find_level(ret, uevent, "VOLTAGE_NOW", VOLTAGE_MIN_UV, VOLTAGE_MAX_UV, &ret->battery.voltage_uv))
                ret->battery.have |= BATTERY_VOLTAGE;
        parse_levels(ret, uevent);
        parse_capacity(ret, uevent);
        parse_power(ret, uevent);
        parse_temperature(ret, uevent);
        parse_control(ret, uevent);
}

bool battery_parse(const char *uevent, struct battery_unit *ret)
{
        battery_read_text(uevent, ret);
        battery_judge(ret, 1);
        return ret->role == ROLE_BATTERY;
}
