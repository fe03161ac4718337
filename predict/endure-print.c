/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "endure.h"
#include "names.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"
#include "whatif.h"

/* For each kind of change: its cost in comfort, and whether joulecast-focus can make and undo it. */
static const struct {
        const char *comfort;
        bool applies;
} rows[ENDURE_KINDS] = {
        [ENDURE_BRIGHTNESS] = { N_("a darker screen"), true },
        [ENDURE_LIMIT] = { N_("it does nothing in the background, so it shows no news; it goes on in the "
                                "foreground"), true },
        [ENDURE_CELLULAR] = { N_("no mobile data"), true },
        [ENDURE_WIFI] = { N_("no network over WiFi"), true },
        [ENDURE_CLOSE] = { N_("it is gone; save your work, and close it yourself"), false },
        [ENDURE_POWER_PROFILE] = { N_("the CPU may be slower"), true },
};

bool endure_applies(enum endure_kind kind)
{
        return rows[kind].applies;
}

char *endure_action(const struct options *options, const struct endure_change *change, char *buf, size_t size)
{
        char name[256], printable[256];

        if (*change->app)
                util_printable(names_of(options, change->app, name, sizeof(name)), printable, sizeof(printable));
        if (change->kind == ENDURE_BRIGHTNESS)
                snprintf(buf, size, _("brightness to %.0f %%"), change->brightness_percent);
        else if (change->kind == ENDURE_LIMIT)
                snprintf(buf, size, _("freeze %s in the background"), printable);
        else if (change->kind == ENDURE_CLOSE)
                snprintf(buf, size, _("close %s"), printable);
        else
                snprintf(buf, size, "%s", change->kind == ENDURE_WIFI ? _("WiFi off") :
                                          change->kind == ENDURE_CELLULAR ? _("modem off") :
                                          _("thrifty power profile"));
        return buf;
}

/* "18:00"; with its day where that is not clear. */
static char *print_clock(int64_t time_ns, char buf[32])
{
        bool soon = time_ns - values_now_ns() < 20 * 3600 * (int64_t)NS_PER_S;
        char local[32];

        values_print_local(time_ns, local, sizeof(local));
        snprintf(buf, 32, "%.*s", soon ? 5 : 16, strlen(local) > 16 && soon ? local + 11 : local);
        return buf;
}

/* The answer, in a sentence. */
static void print_head(const struct endure_plan *plan)
{
        const struct endurance *endurance = &plan->endurance;
        char until[32], low[40], likely[40], missing[40];

        print_clock(plan->until_ns, until);
        if (isnan(endurance->after.value)) {
                table_text(TABLE_HEAD, "How long the charge lasts is unknown, so no plan can be made.");
                return;
        }
        ask_minutes(endurance->after.value, 0, likely);
        if (isnan(endurance->short_minutes)) {
                table_text(TABLE_HEAD,
                           "It is unknown whether the charge lasts until %s: this profile has no coefficient or no "
                           "error for some of what is used. It probably lasts %s%s.", until, likely,
                           endurance->n > 0 ? _(" with this plan") : "");
                return;
        }
        ask_minutes(endurance->after.low, endurance->after.value, low);
        if (endurance->short_minutes > 0)
                table_text(TABLE_HEAD, endurance->n > 0 ?
                           N_("This plan does not suffice until %s: %s are missing. With it the charge lasts at least "
                              "%s (19 times in 20), probably %s.") :
                           N_("No change that is known here helps until %s: %s are missing. The charge lasts at least "
                              "%s (19 times in 20), probably %s."),
                           until, ask_minutes(ceil(endurance->short_minutes), 0, missing), low, likely);
        else if (endurance->n == 0)
                table_text(TABLE_HEAD,
                           "The charge lasts until %s without any change: at least %s (19 times in 20), "
                           "probably %s.", until,
                           low, likely);
        else
                table_text(TABLE_HEAD, "With this plan the charge lasts until %s: at least %s (19 times in 20), "
                                       "probably %s.",
                           until, low, likely);
}

static void print_change(const struct options *options, const struct endure_plan *plan, size_t i)
{
        const struct endure_change *change = &plan->endurance.list[i];
        char action[300], minutes[96];

        table_text(TABLE_PLAIN, "%zu. %s: %s longer by itself; the price: %s.", i + 1,
                   endure_action(options, change, action, sizeof(action)),
                   whatif_minutes(api_value(change->gained), minutes), _(rows[change->kind].comfort));
        if (plan->commands[i])
                printf("   %s\n", plan->commands[i]);
}

int endure_print(const struct options *options, const struct endure_plan *plan)
{
        bool applies = false;

        print_head(plan);
        for (size_t i = 0; i < plan->endurance.n; i++) {
                print_change(options, plan, i);
                applies = applies || rows[plan->endurance.list[i].kind].applies;
        }
        if (plan->profile)
                table_text(TABLE_PLAIN,
                           "The power profile %s may help; its effect is unknown, so no minutes are counted for it.",
                           plan->profile);
        if (plan->refresh_hz > 0)
                table_text(TABLE_PLAIN,
                           "A refresh rate of the screen below %.0f Hz may help; its effect is unknown, too.",
                           plan->refresh_hz);
        if (plan->here && (applies || plan->profile))
                table_note("With --apply joulecast-focus makes what can be undone, and undoes it at that time, when "
                           "external power comes, or by joulecast advise --undo.");
        putchar('\n');
        if (!plan->endurance.app[0])
                table_note("This assumes that use otherwise goes on as now.");
        table_note("From %s.", plan->endurance.basis);
        return CODE_OK;
}

struct cJSON *endure_plan_json(const struct endure_plan *plan, const struct profile *profile)
{
        struct cJSON *json = answer_json(endurance_fields, &plan->endurance, profile), *one;
        const struct cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "changes");
        size_t i = 0;

        cJSON_ArrayForEach(one, list) {
                enum endure_kind kind = plan->endurance.list[i].kind;

                cJSON_AddItemToObject(one, "command", answer_text(plan->commands[i++]));
                cJSON_AddStringToObject(one, "comfort", rows[kind].comfort);
                cJSON_AddBoolToObject(one, "applies", rows[kind].applies);
        }
        answer_add_time(json, "until", plan->until_ns);
        cJSON_AddItemToObject(json, "power_profile", answer_text(plan->profile));
        cJSON_AddNumberToObject(json, "refresh_rate_hz", plan->refresh_hz > 0 ? plan->refresh_hz : NAN);
        return json;
}
