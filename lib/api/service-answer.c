/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Questions of the public API to the service, and its answers. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service-request.h"
#include "util/units.h"
#include "util/util.h"

#define YEAR_2200_NS INT64_C(7258118400000000000)

/* Times before 1970 and after 2200 have no effect. */
static int set_time(struct request *request, const char *path, int64_t time_ns)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        char day[32], text[64];
        struct tm tm;

        if (time_ns == INT64_MIN || time_ns == INT64_MAX)
                return 0;
        if (time_ns < 0 || time_ns >= YEAR_2200_NS)
                return request_set_text(request, path, time_ns < 0 ? "1970-01-01T00:00:00Z" : "2200-01-01T00:00:00Z");
        if (!gmtime_r(&seconds, &tm) || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
                return -EOVERFLOW;
        snprintf(text, sizeof(text), "%s.%09dZ", day, (int)(time_ns % (int64_t)NS_PER_S));
        return request_set_text(request, path, text);
}

/* Whole seconds; INT64_MIN: none. -EBADMSG: of a year that nanoseconds do not reach. */
static int get_time(struct service_answer *answer, const char *path, int64_t *ret)
{
        _cleanup_free_ char *text = service_text(answer, answer->text, path);
        struct tm tm = { 0 };
        time_t seconds;

        if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm)) {
                *ret = INT64_MIN;
                return 0;
        }
        seconds = timegm(&tm);
        if (seconds < 0 || seconds >= INT64_MAX / (int64_t)NS_PER_S)
                return -EBADMSG;
        *ret = (int64_t)seconds * (int64_t)NS_PER_S;
        return 0;
}

static int get_span(struct service_answer *answer, int64_t *from_ns, int64_t *to_ns)
{
        int err = get_time(answer, "$.from", from_ns);

        return err == 0 ? get_time(answer, "$.to", to_ns) : err;
}

/* Calls @each for each element of an array, as JSON. */
static int for_each(struct service_answer *answer, const char *path,
                    int (*each)(struct service_answer *answer, const char *json, struct cost *cost),
                    struct cost *cost)
{
        sqlite3_stmt *elements = NULL;
        int err = 0;

        if (sqlite3_prepare_v2(answer->db, "SELECT value FROM json_each(?1, ?2)", -1, &elements, NULL) != SQLITE_OK)
                return -ENOMEM;
        sqlite3_bind_text(elements, 1, answer->text, -1, SQLITE_STATIC);
        sqlite3_bind_text(elements, 2, path, -1, SQLITE_STATIC);
        while (err == 0 && sqlite3_step(elements) == SQLITE_ROW) {
                const char *json = (const char *)sqlite3_column_text(elements, 0);

                err = json ? each(answer, json, cost) : -EBADMSG;
        }
        sqlite3_finalize(elements);
        return err;
}

static int add_app(struct service_answer *answer, const char *json, struct cost *cost)
{
        _cleanup_free_ char *id = service_text(answer, json, "$.app"),
                            *state = service_text(answer, json, "$.state");
        _cleanup_free_ char *name = service_text(answer, json, "$.name");
        struct cost_app *apps = reallocarray(cost->apps, cost->n_apps + 1, sizeof(*apps)), *app;

        if (!apps)
                return -ENOMEM;
        cost->apps = apps;
        if (!id || !name || !state)
                return -EBADMSG;
        app = &apps[cost->n_apps++];
        *app = (struct cost_app){
                .name = TAKE_PTR(name),
                .state = strcmp(state, "foreground") == 0 ? STATE_FOREGROUND : STATE_BACKGROUND,
                .active_s = service_number(answer, json, "$.active_s"),
                .energy_j = service_value(answer, json, "$.energy_j"),
                .percent = service_value(answer, json, "$.percent"),
                .percent_per_minute = service_value(answer, json, "$.percent_per_minute"),
        };
        snprintf(app->app, sizeof(app->app), "%s", id);
        for (size_t c = 0; c < COMPONENT_BASE; c++) {
                char path[64];

                snprintf(path, sizeof(path), "$.components_j.%s", component_names[c]);
                app->component_j[c] = service_number(answer, json, path);
        }
        return 0;
}

static int add_not_measured(struct service_answer *answer, const char *json, struct cost *cost)
{
        char **list = reallocarray(cost->not_measured, cost->n_not_measured + 1, sizeof(*list));

        if (!list)
                return -ENOMEM;
        cost->not_measured = list;
        list[cost->n_not_measured] = strdup(json);
        return list[cost->n_not_measured] ? cost->n_not_measured++, 0 : -ENOMEM;
}

static int read_cost(struct service_answer *answer, struct cost **ret)
{
        _cleanup_(cost_freep) struct cost *cost = calloc(1, sizeof(*cost));
        int err;

        if (!cost)
                return -ENOMEM;
        cost->measured_j = service_value(answer, answer->text, "$.measured.interval_j");
        cost->measured_percent = service_number(answer, answer->text, "$.measured.percent");
        cost->total_j = service_value(answer, answer->text, "$.total.energy_j");
        cost->base_j = service_number(answer, answer->text, "$.base.energy_j");
        cost->base_idle_j = service_number(answer, answer->text, "$.base.parts_j.idle");
        cost->base_wifi_j = service_number(answer, answer->text, "$.base.parts_j.wifi");
        cost->base_display_j = service_number(answer, answer->text, "$.base.parts_j.display");
        cost->unexplained_j = service_value(answer, answer->text, "$.unexplained.interval_j");
        cost->cpu_spread_j = service_number(answer, answer->text, "$.cpu_spread_j");
        cost->disk_spread_j = service_number(answer, answer->text, "$.disk_spread_j");
        cost->recorded_s = service_number(answer, answer->text, "$.recorded_s");
        err = get_span(answer, &cost->from_ns, &cost->to_ns);
        if (err == 0)
                err = for_each(answer, "$.not_measured", add_not_measured, cost);
        if (err == 0)
                err = for_each(answer, "$.apps", add_app, cost);
        if (err == 0)
                *ret = TAKE_PTR(cost);
        return err;
}

int service_cost(struct joulecast_usage *usage, const struct joulecast_profile *profile, int64_t from_ns,
                 int64_t to_ns, struct cost **ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        int err = request_begin(&request, "cost", profile);

        if (err == 0)
                err = set_time(&request, "$.from", from_ns);
        if (err == 0)
                err = set_time(&request, "$.to", to_ns);
        if (err == 0)
                err = request_ask(usage, &request, &answer);
        return err == 0 ? service_check(usage, read_cost(&answer, ret)) : err;
}

int service_forecast(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *app,
                     double minutes, struct forecast *ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        int err = request_begin(&request, "predict", profile);

        if (err == 0)
                err = request_set_text(&request, "$.app", app);
        if (err == 0)
                err = request_set_number(&request, "$.minutes", minutes);
        if (err == 0)
                err = request_ask(usage, &request, &answer);
        if (err < 0)
                return err;
        ret->minutes = minutes;
        ret->percent = service_value(&answer, answer.text, "$.percent");
        ret->energy_j = service_value(&answer, answer.text, "$.energy_j");
        ret->device_percent = service_value(&answer, answer.text, "$.device_percent");
        service_copy_text(&answer, "$.app", ret->app, sizeof(ret->app));
        service_copy_text(&answer, "$.basis", ret->basis, sizeof(ret->basis));
        return 0;
}

static int set_plan(struct request *request, const struct budget_plan *plan)
{
        int err = plan->app ? request_set_text(request, "$.app", plan->app) : 0;

        if (err == 0 && plan->n_reserves > 0)
                err = request_set(request, "$.reserve", "json_array()", NULL, 0);
        for (size_t i = 0; err == 0 && i < plan->n_reserves; i++)
                err = request_set(request, "$.reserve[#]", "json_object('app', ?3, 'minutes', ?4)",
                                  plan->reserves[i].app, plan->reserves[i].minutes);
        if (err == 0)
                err = request_set_number(request, "$.standby", plan->standby_minutes);
        if (err == 0)
                err = request_set_number(request, "$.keep", plan->keep_percent);
        if (err == 0)
                err = request_set_number(request, "$.battery_percent", plan->battery_percent);
        return err;
}

/* SQLite's true is 1. */
static bool is_true(struct service_answer *answer, const char *path, bool *known)
{
        _cleanup_free_ char *text = service_text(answer, answer->text, path);

        *known = text;
        return text && strcmp(text, "1") == 0;
}

static void get_charging(struct service_answer *answer, struct budget_charging *ret)
{
        bool known;

        ret->charging = is_true(answer, "$.charging", &ret->known);
        ret->too_weak = is_true(answer, "$.charger_too_weak", &known);
        ret->held = is_true(answer, "$.held_at_limit", &known);
        ret->limit_percent = service_number(answer, answer->text, "$.charge_limit_percent");
        ret->minutes_to_full = service_value(answer, answer->text, "$.minutes_to_full");
}

int service_budget(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct budget_plan *plan, struct budget *ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        int err = request_begin(&request, "budget", profile);

        if (err == 0)
                err = set_plan(&request, plan);
        if (err == 0)
                err = request_ask(usage, &request, &answer);
        if (err < 0)
                return err;
        ret->minutes = service_value(&answer, answer.text, "$.minutes");
        ret->recorded_s = service_number(&answer, answer.text, "$.recorded_s");
        ret->reserved_percent = service_number(&answer, answer.text, "$.reserved_percent");
        ret->battery_percent = service_number(&answer, answer.text, "$.battery_percent");
        get_charging(&answer, &ret->charging);
        service_copy_text(&answer, "$.app", ret->app, sizeof(ret->app));
        service_copy_text(&answer, "$.basis", ret->basis, sizeof(ret->basis));
        return 0;
}

static int ask_apps(struct joulecast_usage *usage, struct service_answer *ret)
{
        _cleanup_(request_clear) struct request request = { 0 };
        int err = request_begin(&request, "apps", NULL);

        return err == 0 ? request_ask(usage, &request, ret) : err;
}

int service_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        int err = ask_apps(usage, &answer);

        return err == 0 ? service_check(usage, get_span(&answer, from_ns, to_ns)) : err;
}

int service_since(struct joulecast_usage *usage, enum joulecast_event event, int64_t *time_ns)
{
        static const char *const paths[] = {
                [JOULECAST_SINCE_FULL] = "$.full",
                [JOULECAST_SINCE_UNPLUG] = "$.unplug",
                [JOULECAST_SINCE_RESUME] = "$.resume",
        };
        _cleanup_(request_clear) struct request request = { 0 };
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        int err = request_begin(&request, "since", NULL);

        if (err == 0)
                err = request_ask(usage, &request, &answer);
        if (err < 0)
                return err;
        err = service_check(usage, get_time(&answer, paths[event], time_ns));
        return err == 0 && *time_ns == INT64_MIN ? -ENODATA : err;
}

int service_apps(struct joulecast_usage *usage, struct cost **ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        int err = ask_apps(usage, &answer);

        return err == 0 ? service_check(usage, read_cost(&answer, ret)) : err;
}

int service_battery(struct joulecast_usage *usage, double *percent, int *plugged)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_free_ char *on = NULL;
        double charge;
        int err = ask_apps(usage, &answer);

        if (err < 0)
                return err;
        charge = service_number(&answer, answer.text, "$.battery.percent");
        if (isnan(charge))
                return -ENODEV;
        on = service_text(&answer, answer.text, "$.battery.plugged");
        *percent = charge;
        if (plugged)
                *plugged = on ? strcmp(on, "1") == 0 : -1; /* SQLite's true is 1 */
        return 0;
}
