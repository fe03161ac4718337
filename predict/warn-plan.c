/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warn-plan.h"

#include <math.h>
#include <unistd.h>

#include "api/joulecast-private.h"
#include "limit/plan-file.h"
#include "util/paths.h"
#include "util/util.h"

/* Reads the plan from its wish, which has percent. False: no plan is followed, as there is no journal of one. */
static bool read_plan(struct plan_file *ret)
{
        _cleanup_free_ char *wish = NULL, *made = NULL;

        if (paths_plan(&wish) < 0 || paths_plan_made(&made) < 0 || access(made, F_OK) < 0)
                return false;
        return plan_file_read(wish, ret) == 0;
}

static size_t list_changes(const struct plan_file *plan, struct endure_change *list)
{
        for (size_t i = 0; i < plan->n; i++) {
                list[i] = (struct endure_change){ .kind = plan->list[i].kind, .brightness_percent = NAN };
                snprintf(list[i].app, sizeof(list[i].app), "%s", plan->list[i].app);
                if (list[i].kind == ENDURE_BRIGHTNESS &&
                    util_parse_double(plan->list[i].value, &list[i].brightness_percent) < 0)
                        list[i].brightness_percent = NAN;
        }
        return plan->n;
}

bool warn_plan_read(const struct ask *ask, struct warn_plan *ret)
{
        struct endure_change list[PLAN_CHANGES_MAX];
        struct joulecast_gain *gain = NULL;
        struct joulecast_change change = { 0 };
        struct plan_file plan = { 0 };
        double left_minutes, lasts;

        if (!read_plan(&plan))
                return false;
        change.changes = endure_changes(list, list_changes(&plan, list));
        left_minutes = (double)(plan.until_ns - values_now_ns()) / 60e9;
        if (left_minutes <= 0 || joulecast_gain_new(ask->profile, ask->usage, &change, &gain) < 0)
                return false;
        lasts = joulecast_gain_after(gain).value;
        joulecast_gain_free(gain);
        *ret = (struct warn_plan){ plan.until_ns, lasts };
        return lasts < left_minutes; /* NaN: unknown, and so no warning */
}
