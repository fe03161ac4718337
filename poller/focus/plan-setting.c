/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-undo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit/limit-wish.h"
#include "source/display.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

void plan_settings_close(struct plan_settings *settings)
{
        plan_bus_close(settings->bus);
        settings->bus = NULL;
}

static int bus(struct plan_settings *settings)
{
        return settings->bus ? 0 : plan_bus_open(&settings->bus);
}

/* ---- brightness: the driver's value ---- */

static int look(const struct plan_settings *settings, struct display_state *ret)
{
        int err = display_look(settings->root_fd, ret);

        return err ? err : *ret->backlight && ret->max_brightness > 0 ? 0 : -ENODEV;
}

static int read_brightness(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        struct display_state display;
        int err = look(settings, &display);

        if (!err)
                snprintf(ret, PLAN_VALUE_MAX, "%u", display.brightness);
        return err;
}

static int value_brightness(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        struct display_state display;
        double percent;
        int err = look(settings, &display);

        if (!err)
                err = util_parse_double(change->value, &percent);
        if (err || !(percent >= 1 && percent <= 100))
                return err ? err : -EINVAL;
        snprintf(ret, PLAN_VALUE_MAX, "%.0f", fmax(round(display.max_brightness * percent / 100), 1));
        return 0;
}

static int set_brightness(struct plan_settings *settings, const struct plan_change *change, const char *value)
{
        struct display_state display;
        int err = look(settings, &display);

        if (!err)
                err = bus(settings);
        return err ? err : plan_bus_set_brightness(settings->bus, display.backlight, (uint32_t)strtoul(value, NULL,
                                                                                                       10));
}

/* ---- radios ---- */

static const char *radio_of(const struct plan_change *change)
{
        return change->kind == ENDURE_WIFI ? "WirelessEnabled" : "WwanEnabled";
}

static int read_radio(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        bool on = false;
        int err = bus(settings);

        if (!err)
                err = plan_bus_read_radio(settings->bus, radio_of(change), &on);
        if (!err)
                snprintf(ret, PLAN_VALUE_MAX, "%s", on ? "on" : "off");
        return err;
}

static int value_radio(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        snprintf(ret, PLAN_VALUE_MAX, "off");
        return 0;
}

static int set_radio(struct plan_settings *settings, const struct plan_change *change, const char *value)
{
        int err = bus(settings);

        return err ? err : plan_bus_set_radio(settings->bus, radio_of(change), strcmp(value, "on") == 0);
}

/* ---- power profile ---- */

static int read_profile(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        int err = bus(settings);

        return err ? err : plan_bus_read_power_profile(settings->bus, ret, PLAN_VALUE_MAX);
}

static int value_profile(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        const char *thrifty;
        int err = bus(settings);

        thrifty = err ? NULL : plan_bus_thrifty(settings->bus);
        if (thrifty)
                snprintf(ret, PLAN_VALUE_MAX, "%s", thrifty);
        return err ? err : thrifty ? 0 : -ENODEV;
}

static int set_profile(struct plan_settings *settings, const struct plan_change *change, const char *value)
{
        int err = bus(settings);

        return err ? err : plan_bus_set_power_profile(settings->bus, value);
}

/* ---- limits: "CPU,FREEZE,SINCE" of limits.ini, or "none"; the limiter applies them ---- */

#define FREEZE_AFTER_S 10

static int read_wishes(const struct plan_settings *settings, char **path, struct limit_wishes *ret)
{
        int err = paths_limits(path);

        return err ? err : limit_wishes_read(*path, settings->log, ret);
}

static int read_limit(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        _cleanup_free_ struct limit_wishes *wishes = calloc(1, sizeof(*wishes));
        _cleanup_free_ char *path = NULL;
        const struct limit_wish *wish;
        char cpu[32], freeze[32];
        int err = wishes ? read_wishes(settings, &path, wishes) : -ENOMEM;

        if (err)
                return err;
        wish = limit_wish_find(wishes, change->app);
        if (wish)
                snprintf(ret, PLAN_VALUE_MAX, "%s,%s,%lld", util_print_double(wish->cpu_percent, cpu, sizeof(cpu)),
                         util_print_double(wish->freeze_after_s, freeze, sizeof(freeze)),
                         (long long)(wish->since_ns / (int64_t)NS_PER_S));
        else
                snprintf(ret, PLAN_VALUE_MAX, "none");
        return 0;
}

static int value_limit(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        snprintf(ret, PLAN_VALUE_MAX, "0,%d,%lld", FREEZE_AFTER_S,
                 (long long)(util_clock_ns(CLOCK_REALTIME) / NS_PER_S));
        return 0;
}

/* A journal may contain any text. */
static int parse_limit(const char *value, struct limit_wish *wish)
{
        char copy[PLAN_VALUE_MAX], *rest = NULL, *cpu, *freeze, *since;
        double seconds;

        snprintf(copy, sizeof(copy), "%s", value);
        cpu = strtok_r(copy, ",", &rest);
        freeze = strtok_r(NULL, ",", &rest);
        since = strtok_r(NULL, ",", &rest);
        if (!cpu || !freeze || !since || util_parse_double(cpu, &wish->cpu_percent) < 0 ||
            util_parse_double(freeze, &wish->freeze_after_s) < 0 || util_parse_double(since, &seconds) < 0 ||
            !(seconds >= 0 && seconds < 7e9) || !(wish->cpu_percent >= 0 && wish->cpu_percent <= LIMIT_CPU_MAX) ||
            !(wish->freeze_after_s >= 0 && wish->freeze_after_s <= LIMIT_FREEZE_MAX) ||
            !(wish->cpu_percent >= LIMIT_CPU_MIN || wish->freeze_after_s >= LIMIT_FREEZE_MIN))
                return -EINVAL;
        wish->since_ns = (int64_t)seconds * (int64_t)NS_PER_S;
        return 0;
}

static int set_limit(struct plan_settings *settings, const struct plan_change *change, const char *value)
{
        _cleanup_free_ struct limit_wishes *wishes = calloc(1, sizeof(*wishes));
        _cleanup_free_ char *path = NULL;
        struct limit_wish wish = { 0 };
        int err = wishes ? read_wishes(settings, &path, wishes) : -ENOMEM;

        if (err)
                return err;
        snprintf(wish.app, sizeof(wish.app), "%s", change->app);
        if (strcmp(value, "none") == 0)
                limit_wish_remove(wishes, change->app);
        else
                err = parse_limit(value, &wish);
        if (!err && strcmp(value, "none") != 0)
                err = limit_wish_set(wishes, &wish);
        return err ? err : limit_wishes_write(path, wishes);
}

static const struct setting {
        int (*read)(struct plan_settings *settings, const struct plan_change *change, char *ret);
        int (*value)(struct plan_settings *settings, const struct plan_change *change, char *ret);
        int (*set)(struct plan_settings *settings, const struct plan_change *change, const char *value);
} table[ENDURE_KINDS] = {
        [ENDURE_BRIGHTNESS] = { read_brightness, value_brightness, set_brightness },
        [ENDURE_LIMIT] = { read_limit, value_limit, set_limit },
        [ENDURE_CELLULAR] = { read_radio, value_radio, set_radio },
        [ENDURE_WIFI] = { read_radio, value_radio, set_radio },
        [ENDURE_POWER_PROFILE] = { read_profile, value_profile, set_profile },
};

int plan_setting_read(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        return table[change->kind].read ? table[change->kind].read(settings, change, ret) : -EOPNOTSUPP;
}

int plan_setting_value(struct plan_settings *settings, const struct plan_change *change, char *ret)
{
        return table[change->kind].value ? table[change->kind].value(settings, change, ret) : -EOPNOTSUPP;
}

int plan_setting_set(struct plan_settings *settings, const struct plan_change *change, const char *value)
{
        return table[change->kind].set ? table[change->kind].set(settings, change, value) : -EOPNOTSUPP;
}
