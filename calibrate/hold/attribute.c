/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attribute.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "util/util.h"

/* Documentation/admin-guide/pm/cpufreq.rst; Documentation/ABI: backlight, rfkill, power_supply. */
#define CPU "/sys/devices/system/cpu/"
#define POLICY CPU "cpufreq/policy[0-9]*/"

static const char *const charge_behaviours[] = { "auto", "inhibit-charge", "inhibit-charge-awake",
                                                 "force-discharge", NULL };

static const char *const powers[] = { "off", "on", NULL };

/* Never to be listed here: trip points, charge limits, voltages. */
static const struct attribute attributes[] = {
        { POLICY "scaling_governor", .word = true, .watched = true,
          .affects = { "scaling_setspeed", "energy_performance_preference" } },
        { POLICY "energy_performance_preference", .word = true, .watched = true },
        { POLICY "scaling_min_freq", .min = 1, .max = 100000000, .watched = true, .affects = { "scaling_max_freq" } },
        { POLICY "scaling_max_freq", .min = 1, .max = 100000000, .watched = true, .affects = { "scaling_min_freq" } },
        { POLICY "scaling_setspeed", .min = 1, .max = 100000000, .watched = true, .none = "<unsupported>" },
        { POLICY "boost", .max = 1, .watched = true, .affects = { "scaling_min_freq", "scaling_max_freq" } },
        { CPU "cpufreq/boost", .max = 1, .watched = true,
          .affects = { POLICY "scaling_m[ai][nx]_freq", POLICY "boost" } },
        { CPU "intel_pstate/no_turbo", .max = 1, .watched = true, .affects = { POLICY "scaling_m[ai][nx]_freq" } },
        /* 0 may be restored, but calibration never sets it: some panels go dark. */
        { "/sys/class/backlight/*/brightness", .max = UINT32_MAX, .own_min = 1, .persists = true },
        { "/sys/class/backlight/*/bl_power", .max = 4 },
        { "screen:power", .words = powers },
        /* systemd-rfkill and some firmware keep it over a reboot. */
        { "/sys/class/rfkill/rfkill[0-9]*/soft", .max = 1, .persists = true },
        { "nl80211:*/power_save", .max = 1, .watched = true },
        { "/sys/class/power_supply/*/charge_behaviour", .words = charge_behaviours, .bracketed = true,
          .persists = true },
};

bool attribute_plain_text(const char *text)
{
        size_t length = strlen(text);

        if (length == 0 || strchr(text, ';') || isspace((unsigned char)text[0]) ||
            isspace((unsigned char)text[length - 1]))
                return false;
        for (const char *at = text; *at; at++)
                if ((unsigned char)*at < 0x20 || *at == 0x7f)
                        return false;
        return true;
}

/* No "//", "/./" or "/../", and nothing that a line of the journal could not say. */
static bool plain_path(const char *path)
{
        if (strlen(path) > SETTING_NAME_MAX || !attribute_plain_text(path))
                return false;
        for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
                size_t part = strcspn(at + 1, "/");

                if (part == 0 || (part == 1 && at[1] == '.') || (part == 2 && at[1] == '.' && at[2] == '.'))
                        return false;
        }
        return true;
}

const struct attribute *attribute_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(attributes) && plain_path(name); i++)
                if (fnmatch(attributes[i].pattern, name, FNM_PATHNAME | FNM_PERIOD) == 0)
                        return &attributes[i];
        return NULL;
}

static bool is_word(const char *value)
{
        size_t length = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-");

        return length > 0 && length < SETTING_VALUE_MAX && !value[length];
}

static bool in_range(const struct attribute *attribute, uint64_t min, const char *value)
{
        uint64_t number;

        if (strlen(value) >= SETTING_VALUE_MAX)
                return false;
        for (size_t i = 0; attribute->words && attribute->words[i]; i++)
                if (strcmp(attribute->words[i], value) == 0)
                        return true;
        if (attribute->words || attribute->word)
                return attribute->word && is_word(value);
        return value[strspn(value, "0123456789")] == '\0' && util_parse_u64(value, &number) == 0 &&
               number >= min && number <= attribute->max;
}

bool attribute_writable(const struct attribute *attribute, const char *value)
{
        return in_range(attribute, MAX(attribute->min, attribute->own_min), value);
}

bool attribute_restorable(const struct attribute *attribute, const char *value)
{
        return (attribute->none && strcmp(attribute->none, value) == 0) ||
               in_range(attribute, attribute->min, value);
}

/* Is @other the file @called in the folder of @name? */
static bool is_beside(const char *name, const char *other, const char *called)
{
        const char *end = strrchr(name, '/'), *end_other = strrchr(other, '/');

        return end && end_other && end - name == end_other - other &&
               strncmp(name, other, (size_t)(end - name)) == 0 && strcmp(end_other + 1, called) == 0;
}

bool attribute_affects(const struct attribute *attribute, const char *name, const char *other)
{
        for (size_t i = 0; i < ARRAY_SIZE(attribute->affects) && attribute->affects[i]; i++) {
                const char *affected = attribute->affects[i];

                if (*affected == '/' ? fnmatch(affected, other, FNM_PATHNAME | FNM_PERIOD) == 0
                                     : is_beside(name, other, affected))
                        return true;
        }
        return false;
}

bool attribute_scratch_name(const char *path)
{
        const char *last = strrchr(path, '/');

        return *path == '/' && plain_path(path) &&
               fnmatch(".joulecast-disk-[A-Za-z0-9]*", last + 1, FNM_PATHNAME) == 0;
}
