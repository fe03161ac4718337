/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys that only a virtual device has, and that are more than a number. */

#include <string.h>

#include "profile-parse.h"
#include "util/util.h"

#define EMISSION_MAX 512

int profile_parse_voltage(struct parser *parser, const struct ini_place *place, const char *key, const char *value)
{
        struct profile_virtual *device = &parser->profile->virtual_device;
        struct voltage_point point;
        size_t at = 0;
        int err;

        err = ini_number(place, "the state of charge of voltage_mv", key + strlen("voltage_mv."), 0, 100,
                         &point.percent);
        if (!err)
                err = ini_number(place, key, value, 100, 1e6, &point.voltage_mv);
        if (err)
                return err;
        while (at < device->n_voltage && device->voltage[at].percent < point.percent)
                at++;
        if (at < device->n_voltage && device->voltage[at].percent == point.percent)
                return profile_twice(place, key);
        if (device->n_voltage >= 1001)
                return ini_error(place, "more than 1001 points of voltage_mv");
        err = util_grow(&device->voltage, &parser->voltage_capacity, device->n_voltage + 1, sizeof(point));
        if (err)
                return err;
        memmove(device->voltage + at + 1, device->voltage + at, (device->n_voltage - at) * sizeof(point));
        device->voltage[at] = point;
        device->n_voltage++;
        return 0;
}

int profile_parse_emission(struct parser *parser, const struct ini_place *place, const char *key, const char *value)
{
        struct profile_virtual *device = &parser->profile->virtual_device;
        struct emission_point point;
        size_t at = 0;
        int err;

        if (!profile_parse_index(key + strlen("emission_mw."), INT32_MAX, &point.brightness))
                return ini_error(place, "%.60s: the part after the dot is a brightness", key);
        err = ini_number(place, key, value, 0, PROFILE_COEFFICIENT_MAX, &point.power_mw);
        if (err)
                return err;
        while (at < device->n_emission && device->emission[at].brightness < point.brightness)
                at++;
        if (at < device->n_emission && device->emission[at].brightness == point.brightness)
                return profile_twice(place, key);
        if (device->n_emission >= EMISSION_MAX)
                return ini_error(place, "more than %d levels of emission_mw", EMISSION_MAX);
        err = util_grow(&device->emission, &parser->emission_capacity, device->n_emission + 1, sizeof(point));
        if (err)
                return err;
        memmove(device->emission + at + 1, device->emission + at, (device->n_emission - at) * sizeof(point));
        device->emission[at] = point;
        if (at == device->n_emission++)
                parser->emission_line = place->line;
        return 0;
}

/* What such a governor does can be told from counters by frequency, so these are as on a machine without BPF. */
int profile_parse_governor(struct parser *parser, const struct ini_place *place, const char *value)
{
        struct profile_virtual *device = &parser->profile->virtual_device;
        int err = profile_parse_only(place, "governor", value, "idle-lowers", &device->idle_lowers);

        if (!err)
                device->proc = true;
        return err;
}

int profile_parse_only(const struct ini_place *place, const char *key, const char *value, const char *only, bool *ret)
{
        if (strcmp(value, only) != 0)
                return ini_error(place, "%s = %.60s is unknown; it may be %s", key, value, only);
        *ret = true;
        return 0;
}
