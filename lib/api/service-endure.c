/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fewest changes that suffice, by the service. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "service-request.h"
#include "util/util.h"

static int set_goal(struct request *request, const struct endure_goal *goal)
{
        int err = request_set_number(request, "$.minutes", goal->minutes);

        if (err == 0 && goal->app)
                err = request_set_text(request, "$.app", goal->app);
        if (err == 0 && goal->n_without > 0)
                err = request_set(request, "$.without", "json_array()", NULL, 0);
        for (size_t i = 0; err == 0 && i < goal->n_without; i++)
                err = request_set_text(request, "$.without[#]", goal->without[i]);
        return err ? err : request_set_number(request, "$.battery_percent", goal->battery_percent);
}

/* Reads the change at @path, an element of the list; -ENOENT: there is none. */
static int get_change(struct service_answer *answer, const char *path, struct endure_change *ret)
{
        _cleanup_(service_action_clear) struct service_action action = { 0 };
        int err = service_action(answer, path, &action), kind;

        if (err)
                return err;
        kind = action.word ? endure_kind(action.word) : -EINVAL;
        if (kind < 0)
                return -EBADMSG;
        *ret = (struct endure_change){ .kind = (enum endure_kind)kind, .brightness_percent = action.brightness_percent,
                                       .gained = action.gained };
        snprintf(ret->app, sizeof(ret->app), "%s", action.app ? action.app : "");
        snprintf(ret->name, sizeof(ret->name), "%s", action.name ? action.name : "");
        return 0;
}

int service_endure(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct endure_goal *goal,
                   struct endurance *ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        struct endurance endurance = { .goal_minutes = goal->minutes };
        int err = request_begin(&request, "endure", profile);

        if (err == 0)
                err = set_goal(&request, goal);
        if (err == 0)
                err = request_ask(usage, &request, &answer);
        if (err < 0)
                return err;
        endurance.before = service_value(&answer, answer.text, "$.minutes");
        endurance.after = service_value(&answer, answer.text, "$.changed_minutes");
        endurance.short_minutes = service_number(&answer, answer.text, "$.short_minutes");
        endurance.battery_percent = service_number(&answer, answer.text, "$.battery_percent");
        service_copy_text(&answer, "$.app", endurance.app, sizeof(endurance.app));
        service_copy_text(&answer, "$.basis", endurance.basis, sizeof(endurance.basis));
        for (; err == 0 && endurance.n < ENDURE_CHANGES_MAX; endurance.n += err == 0) {
                char path[64];

                snprintf(path, sizeof(path), "$.changes[%zu]", endurance.n);
                err = get_change(&answer, path, &endurance.list[endurance.n]);
        }
        if (err && err != -ENOENT)
                return service_check(usage, err);
        *ret = endurance;
        return 0;
}
