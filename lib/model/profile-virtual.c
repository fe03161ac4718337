/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys that only a virtual device has, and that are more than a number. */

#include <string.h>

#include "profile-parse.h"
#include "util/util.h"

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
