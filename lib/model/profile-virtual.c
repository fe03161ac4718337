/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys that only a virtual device has, and that are more than a number. */

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "profile-keys.h"
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

/* Counters by frequency would reveal the work of this governor, so they are as on a machine without BPF. */
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

int profile_parse_counters(const struct ini_place *place, const char *value, enum virtual_counters *ret)
{
        if (strcmp(value, "all") == 0)
                *ret = VIRTUAL_COUNTERS_ALL;
        else if (strcmp(value, "instructions") == 0)
                *ret = VIRTUAL_COUNTERS_INSTRUCTIONS;
        else if (strcmp(value, "none") != 0)
                return ini_error(place, "counters = %.60s is unknown; it may be all, instructions or none", value);
        return 0;
}

int profile_parse_idle_states(const struct ini_place *place, const char *value, enum idle_states *ret)
{
        *ret = strcmp(value, "deep") == 0 ? IDLE_STATES_DEEP : IDLE_STATES_SHALLOW;
        if (*ret == IDLE_STATES_SHALLOW && strcmp(value, "shallow") != 0)
                return ini_error(place, "idle_states = %.60s is unknown; it may be deep or shallow", value);
        return 0;
}

const struct work_key work_keys[] = {
        { "spin_ipc", offsetof(struct profile_policy, spin_ipc), 0.01, 100 },
        { "instruction_cycles", offsetof(struct profile_policy, instruction_cycles), 0, 100 },
        { "idle_share", offsetof(struct profile_policy, idle_share), 0, 0.9 },
};
const size_t n_work_keys = ARRAY_SIZE(work_keys);

static struct profile_policy *add_policy(struct profile *profile, uint32_t policy)
{
        size_t i = 0;

        if (profile_add_policy(profile, policy, NULL) < 0)
                return NULL;
        while (profile->policies[i].policy != policy)
                i++;
        return &profile->policies[i];
}

int profile_parse_work(struct parser *parser, const struct ini_place *place, const char *instance, const char *key,
                       const char *value)
{
        struct profile_policy *policy;
        double number, before;
        uint32_t index;
        size_t i = 0;
        int err;

        while (i < n_work_keys && strcmp(work_keys[i].key, key) != 0)
                i++;
        if (i == n_work_keys || !profile_parse_index(instance, 65535, &index))
                return 1;
        err = ini_number(place, key, value, work_keys[i].min, work_keys[i].max, &number);
        if (err)
                return err;
        policy = add_policy(parser->profile, index);
        if (!policy)
                return -ENOMEM;
        memcpy(&before, (const char *)policy + work_keys[i].offset, sizeof(before));
        if (before != 0)
                return profile_twice(place, key);
        memcpy((char *)policy + work_keys[i].offset, &number, sizeof(number));
        parser->work_line = place->line;
        return 0;
}
