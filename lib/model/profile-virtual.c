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
        if (strcmp(value, "idle-lowers") != 0)
                return ini_error(place, "governor = %.60s is unknown; it may be idle-lowers", value);
        parser->profile->virtual_device.idle_lowers = true;
        parser->profile->virtual_device.proc = true;
        return 0;
}

int profile_parse_collector(struct parser *parser, const struct ini_place *place, const char *value)
{
        if (strcmp(value, "proc") != 0)
                return ini_error(place, "collector = %.60s is unknown; it may be proc", value);
        parser->profile->virtual_device.proc = true;
        return 0;
}
