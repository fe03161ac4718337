/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API: the fewest changes with which the charge lasts as long as is wished. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joulecast-private.h"
#include "service.h"
#include "util/util.h"

JOULECAST_EXPORT int joulecast_goal_new(double minutes, struct joulecast_goal **ret)
{
        struct joulecast_goal *goal;

        if (!(minutes > 0 && minutes <= 1e6))
                return -EINVAL;
        goal = calloc(1, sizeof(*goal));
        if (!goal)
                return -ENOMEM;
        goal->goal = (struct endure_goal)ENDURE_GOAL_NONE;
        goal->goal.minutes = minutes;
        *ret = goal;
        return 0;
}

JOULECAST_EXPORT void joulecast_goal_free(struct joulecast_goal *goal)
{
        if (!goal)
                return;
        free(goal->app);
        for (size_t i = 0; i < ARRAY_SIZE(goal->without); i++)
                free(goal->without[i]);
        free(goal);
}

JOULECAST_EXPORT int joulecast_goal_app(struct joulecast_goal *goal, const char *app)
{
        char *copy;

        if (!*app)
                return -EINVAL;
        copy = strdup(app);
        if (!copy)
                return -ENOMEM;
        free(goal->app);
        goal->goal.app = goal->app = copy;
        return 0;
}

JOULECAST_EXPORT int joulecast_goal_without(struct joulecast_goal *goal, const char *what)
{
        size_t n = goal->goal.n_without;

        if (!*what)
                return -EINVAL;
        if (n == ENDURE_WITHOUT_MAX)
                return -E2BIG;
        goal->without[n] = strdup(what);
        if (!goal->without[n])
                return -ENOMEM;
        goal->goal.without[n] = goal->without[n];
        goal->goal.n_without++;
        return 0;
}

JOULECAST_EXPORT int joulecast_goal_battery(struct joulecast_goal *goal, double percent)
{
        if (!(percent >= 0 && percent <= 100))
                return -EINVAL;
        goal->goal.battery_percent = percent;
        return 0;
}

static int endure_by(const struct history *history, const void *asked, const struct forecast_battery *battery,
                     struct api_missing *missing, void *ret)
{
        const struct endure_goal *goal = asked;
        int err = endure_make(history, goal, battery, &missing->app, ret);

        for (size_t i = 0; i < goal->n_without; i++)
                missing->kinds = missing->kinds || missing->app == goal->without[i];
        return err;
}

JOULECAST_EXPORT int joulecast_endurance_new(const struct joulecast_profile *profile, struct joulecast_usage *usage,
                                             const struct joulecast_goal *goal, struct joulecast_endurance **ret)
{
        _cleanup_free_ struct joulecast_endurance *endurance = calloc(1, sizeof(*endurance));
        int err;

        if (profile->context != usage->context)
                return -EINVAL;
        if (!endurance)
                return -ENOMEM;
        if (usage->service)
                err = service_endure(usage, profile, &goal->goal, &endurance->endurance);
        else
                err = api_answer(usage, profile, endure_by, &goal->goal, &endurance->endurance);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(endurance);
        return 0;
}

JOULECAST_EXPORT void joulecast_endurance_free(struct joulecast_endurance *endurance)
{
        free(endurance);
}

JOULECAST_EXPORT struct joulecast_value joulecast_endurance_before(const struct joulecast_endurance *endurance)
{
        return api_value(endurance->endurance.before);
}

JOULECAST_EXPORT struct joulecast_value joulecast_endurance_after(const struct joulecast_endurance *endurance)
{
        return api_value(endurance->endurance.after);
}

JOULECAST_EXPORT double joulecast_endurance_short_minutes(const struct joulecast_endurance *endurance)
{
        return endurance->endurance.short_minutes;
}

JOULECAST_EXPORT int joulecast_endurance_change(const struct joulecast_endurance *endurance, size_t index,
                                                struct joulecast_endurance_change *ret)
{
        const struct endure_change *change = &endurance->endurance.list[index < ENDURE_CHANGES_MAX ? index : 0];

        if (index >= endurance->endurance.n)
                return -ENOENT;
        *ret = (struct joulecast_endurance_change){
                .action = endure_words[change->kind],
                .app = *change->app ? change->app : NULL,
                .name = *change->app ? change->name : NULL,
                .brightness_percent = change->brightness_percent,
                .gained = api_value(change->gained),
        };
        return 0;
}

JOULECAST_EXPORT const char *joulecast_endurance_app(const struct joulecast_endurance *endurance)
{
        return endurance->endurance.app;
}

JOULECAST_EXPORT double joulecast_endurance_battery_percent(const struct joulecast_endurance *endurance)
{
        return endurance->endurance.battery_percent;
}

JOULECAST_EXPORT const char *joulecast_endurance_basis(const struct joulecast_endurance *endurance)
{
        return endurance->endurance.basis;
}
