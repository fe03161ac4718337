/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API for the gain of a change; and advice, for the programs. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joulecast-private.h"
#include "service.h"
#include "util/util.h"

JOULECAST_EXPORT int joulecast_change_new(struct joulecast_change **ret)
{
        struct joulecast_change *change = calloc(1, sizeof(*change));

        if (!change)
                return -ENOMEM;
        change->changes = (struct changes)CHANGES_NONE;
        *ret = change;
        return 0;
}

JOULECAST_EXPORT void joulecast_change_free(struct joulecast_change *change)
{
        if (!change)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(change->names); i++)
                free(change->names[i]);
        free(change);
}

JOULECAST_EXPORT int joulecast_change_close(struct joulecast_change *change, const char *app)
{
        size_t n = change->changes.n_close;

        if (!*app)
                return -EINVAL;
        if (n == CHANGE_APPS_MAX)
                return -E2BIG;
        change->names[n] = strdup(app);
        if (!change->names[n])
                return -ENOMEM;
        change->changes.close[n] = change->names[n];
        change->changes.n_close++;
        return 0;
}

static int set_number(double *to, double value, double max)
{
        if (!(value >= 0 && value <= max))
                return -EINVAL;
        *to = value;
        return 0;
}

JOULECAST_EXPORT int joulecast_change_brightness(struct joulecast_change *change, double percent)
{
        return set_number(&change->changes.brightness_percent, percent, 100);
}

JOULECAST_EXPORT int joulecast_change_keep(struct joulecast_change *change, double minutes)
{
        return set_number(&change->changes.keep_minutes, minutes, 1e6);
}

JOULECAST_EXPORT int joulecast_change_battery(struct joulecast_change *change, double percent)
{
        return set_number(&change->changes.battery_percent, percent, 100);
}

JOULECAST_EXPORT int joulecast_change_off(struct joulecast_change *change, enum joulecast_part part)
{
        static const enum component components[] = {
                [JOULECAST_PART_SCREEN] = COMPONENT_DISPLAY,    [JOULECAST_PART_WIFI] = COMPONENT_WIFI,
                [JOULECAST_PART_CELLULAR] = COMPONENT_CELLULAR, [JOULECAST_PART_GPS] = COMPONENT_GPS,
                [JOULECAST_PART_AUDIO] = COMPONENT_AUDIO,
        };

        if ((int)part < 0 || (size_t)part >= ARRAY_SIZE(components))
                return -EINVAL;
        change->changes.off |= UINT32_C(1) << components[part];
        return 0;
}

static int gain_by(const struct history *history, const void *changes, const struct forecast_battery *battery,
                   struct api_missing *missing, void *ret)
{
        return whatif_gain(history, changes, battery, &missing->app, ret);
}

JOULECAST_EXPORT int joulecast_gain_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                                        const struct joulecast_change *change, struct joulecast_gain **ret)
{
        _cleanup_free_ struct joulecast_gain *gain = calloc(1, sizeof(*gain));
        int err;

        if (profile->context != usage->context)
                return -EINVAL;
        if (!gain)
                return -ENOMEM;
        if (usage->service)
                err = service_gain(usage, profile, &change->changes, &gain->gain);
        else
                err = api_answer(usage, profile, gain_by, &change->changes, &gain->gain);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(gain);
        return 0;
}

JOULECAST_EXPORT void joulecast_gain_free(struct joulecast_gain *gain)
{
        free(gain);
}

JOULECAST_EXPORT struct joulecast_value joulecast_gain_minutes(const struct joulecast_gain *gain)
{
        return api_value(gain->gain.gained);
}

JOULECAST_EXPORT struct joulecast_value joulecast_gain_before(const struct joulecast_gain *gain)
{
        return api_value(gain->gain.minutes);
}

JOULECAST_EXPORT struct joulecast_value joulecast_gain_after(const struct joulecast_gain *gain)
{
        return api_value(gain->gain.changed);
}

JOULECAST_EXPORT double joulecast_gain_battery_percent(const struct joulecast_gain *gain)
{
        return gain->gain.battery_percent;
}

JOULECAST_EXPORT const char *joulecast_gain_app(const struct joulecast_gain *gain, size_t index)
{
        return index < gain->gain.n_apps ? gain->gain.apps[index] : NULL;
}

JOULECAST_EXPORT int joulecast_gain_is_nothing(const struct joulecast_gain *gain)
{
        return gain->gain.nothing;
}

JOULECAST_EXPORT const char *joulecast_gain_basis(const struct joulecast_gain *gain)
{
        return gain->gain.basis;
}

int api_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile, struct advice_list *ret)
{
        const struct forecast_battery *battery;
        const struct history *history;
        ssize_t n;
        int err;

        if (usage->service)
                return service_advise(usage, profile, ret);
        err = api_usage_history(usage, profile, NULL, &history);
        if (!err)
                err = api_usage_battery(usage, profile, &battery);
        if (err)
                return err;
        n = advice_make(history, battery, ret->list);
        ret->n = n < 0 ? 0 : (size_t)n;
        return n < 0 ? (int)n : 0;
}
