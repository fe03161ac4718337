/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API, as an app uses it for longer than one question. */

#include <errno.h>
#include <joulecast.h>
#include <math.h>
#include <sys/stat.h>

#include "model/profile.h"
#include "store-fixture.h"

static char folder[64], profile_path[64];

static void record(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };

        for (int i = 1; i <= 120; i++) {
                make_interval(&interval, START + i * 60 * S, 60 * NS_PER_S, 0);
                interval.battery.capacity_percent = 40;
                add_row(&interval, "game", STATE_FOREGROUND, 60 * NS_PER_S)->usage.have = USAGE_ALL;
                usage_add_cpu(&interval.rows[1].usage, 0, 1000000, 30 * NS_PER_S, 30 * NS_PER_S);
                interval.rows[1].usage.gps_on_ns = 10 * NS_PER_S;
                interval.rows[1].usage.audio_on_ns = 20 * NS_PER_S;
                check_int(store_append(store, &interval), 0);
        }
        interval_clear(&interval);
        store_close(store);
}

static void save_profile(void)
{
        const struct coefficient learnt = { .term = TERM_APP_CPU, .policy = 1, .value = -0.2, .standard_error = 0.01 };
        struct profile *profile;

        check_int(profile_new("test", 10000, &profile), 0);
        profile->degrees_of_freedom = 20;
        check_int(profile_add(profile, &(struct coefficient){ .value = 100, .standard_error = 1 }), 0);
        check_int(profile_add(profile, &(struct coefficient){ .term = TERM_CPU_ACTIVE, .point = 1000000, .value = 1000,
                                                              .standard_error = 10 }), 0);
        check_int(profile_add(profile,
                              &(struct coefficient){ .term = TERM_GPS, .value = 300, .standard_error = 3 }),
                  0);
        check_int(profile_add(profile,
                              &(struct coefficient){ .term = TERM_AUDIO, .value = 50, .standard_error = 1 }),
                  0);
        check_int(profile_add_app(profile, 1, "game"), 0);
        check_int(profile_add(profile, &learnt), 0);
        check_int(profile_save(profile, profile_path), 0);
        profile_free(profile);
}

struct app { /* handles of an app that uses the library */
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
};

static void app_open(struct app *app)
{
        check_int(joulecast_context_new(&app->context), 0);
        check_int(joulecast_context_set_machine(app->context, folder), 0);
        check_int(joulecast_profile_load(app->context, profile_path, &app->profile), 0);
        check_int(joulecast_usage_open(app->context, path, &app->usage), 0);
}

static void app_close(struct app *app)
{
        joulecast_usage_free(app->usage);
        joulecast_profile_free(app->profile);
        joulecast_context_free(app->context);
}

/* On a machine whose battery cannot be read the answer uses the last stored level, also when it is asked again. */
static void the_stored_battery_stays(const struct app *app)
{
        struct joulecast_plan *plan;
        struct joulecast_budget *budget = NULL;
        double percent = NAN;
        int plugged = -1;

        for (int i = 0; i < 3; i++) {
                check_int(joulecast_usage_battery(app->usage, &percent, &plugged), 0);
                check_near(percent, 40, 0);
                check_int(plugged, 0);
        }
        check_int(joulecast_plan_new("game", &plan), 0);
        check_int(joulecast_budget_new(app->profile, app->usage, plan, &budget), 0);
        if (budget)
                check_near(joulecast_budget_battery_percent(budget), 40, 0);
        joulecast_budget_free(budget);
        joulecast_plan_free(plan);
}

/* An interval holds its value, also where that is negative. */
static void coefficients(const struct app *app)
{
        size_t n = joulecast_profile_count(app->profile);
        struct joulecast_coefficient c = { 0 };

        for (size_t i = 0; i < n; i++) {
                check_int(joulecast_profile_coefficient(app->profile, i, &c), 0);
                check(c.low <= c.value && c.value <= c.high);
        }
        check_text(c.key, "app.1.cpu");
        check_text(c.unit, "");
        check_near(c.value, -0.2, 0);
        check_int(joulecast_profile_coefficient(app->profile, n, &c), -ERANGE);
}

/* Without an app: mixed use. The battery is the stored one, which does not charge. */
static void without_an_app(const struct app *app)
{
        struct joulecast_plan *plan = NULL;
        struct joulecast_budget *budget = NULL;

        check_int(joulecast_plan_new(NULL, &plan), 0);
        check_int(joulecast_budget_new(app->profile, app->usage, plan, &budget), 0);
        if (budget) {
                check_text(joulecast_budget_app(budget), "");
                check(joulecast_budget_minutes(budget).value > 0);
                check_int(joulecast_budget_charging(budget), 0);
                check_int(joulecast_budget_charger_too_weak(budget), 0);
                check(isnan(joulecast_budget_minutes_to_full(budget).value));
        }
        joulecast_budget_free(budget);
        joulecast_plan_free(plan);
}

/* A profile of another context is refused: a usage caches results for one profile, and could not tell two apart. */
static void of_one_context(const struct app *app)
{
        struct app other;
        struct joulecast_cost *cost = NULL;
        struct joulecast_forecast *forecast = NULL;
        struct joulecast_budget *budget = NULL;
        struct joulecast_plan *plan;

        app_open(&other);
        check_int(joulecast_plan_new("game", &plan), 0);
        check_int(joulecast_cost_new(other.profile, app->usage, JOULECAST_BEGIN, JOULECAST_END, &cost), -EINVAL);
        check_int(joulecast_forecast_new(other.profile, app->usage, "game", 10, &forecast), -EINVAL);
        check_int(joulecast_budget_new(other.profile, app->usage, plan, &budget), -EINVAL);
        check(!cost && !forecast && !budget);
        joulecast_plan_free(plan);
        app_close(&other);
}

/* Energy of parts that apps hold, over two hours; both interfaces agree on the parts in joulecast_cost_app. */
static void all_components(const struct app *app)
{
        static const double want_j[] = { [JOULECAST_CELLULAR] = 0,
                                         [JOULECAST_GPS] = 360,
                                         [JOULECAST_AUDIO] = 120,
                                         [JOULECAST_CAMERA] = 0 };
        struct joulecast_cost_app game;
        struct joulecast_cost *cost = NULL;

        check_int(joulecast_cost_new(app->profile, app->usage, JOULECAST_BEGIN, JOULECAST_END, &cost), 0);
        check_int(joulecast_cost_count(cost), 1);
        check_int(joulecast_cost_app(cost, 0, &game), 0);
        for (int c = JOULECAST_CPU; c <= JOULECAST_GPU; c++)
                check(isnan(game.component_j[c]) ? isnan(joulecast_cost_component_j(cost, 0, c)) :
                                                   joulecast_cost_component_j(cost, 0, c) == game.component_j[c]);
        for (int c = JOULECAST_CELLULAR; c <= JOULECAST_CAMERA; c++)
                check_near(joulecast_cost_component_j(cost, 0, c), want_j[c], 1e-6);
        check(isnan(joulecast_cost_component_j(cost, 1, JOULECAST_GPS)));
        check(isnan(joulecast_cost_component_j(cost, 0, JOULECAST_CAMERA + 100)));
        check(isnan(joulecast_cost_component_j(cost, 0, -1)));
        joulecast_cost_free(cost);
}

static int sentences;

static void count(void *data, enum joulecast_level level, const char *sentence)
{
        check(*sentence && *sentence != ' ');
        sentences++;
}

/* Any two times are allowed; a span that does not end after it begins is refused with a message to the log. */
static void any_span(const struct app *app)
{
        const struct { int64_t from_ns, to_ns; int err; } cases[] = {
                { JOULECAST_END, JOULECAST_BEGIN, -EINVAL }, { JOULECAST_BEGIN, JOULECAST_BEGIN, -EINVAL },
                { JOULECAST_END, JOULECAST_END, -EINVAL }, { START, START, -EINVAL }, { START, 0, -EINVAL },
                { JOULECAST_BEGIN, JOULECAST_BEGIN + 1, -ENODATA }, { JOULECAST_END - 1, JOULECAST_END, -ENODATA },
                { JOULECAST_BEGIN + 1, JOULECAST_END - 1, 0 }, { START, JOULECAST_END, 0 },
                { -1, START + 3600 * S, 0 },
        };

        joulecast_context_set_log(app->context, count, NULL);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct joulecast_cost *cost = NULL;

                sentences = 0;
                check_int(joulecast_cost_new(app->profile, app->usage, cases[i].from_ns, cases[i].to_ns,
                                             &cost),
                          cases[i].err);
                check_int(sentences, cases[i].err == -EINVAL);
                joulecast_cost_free(cost);
        }
        joulecast_context_set_log(app->context, NULL, NULL);
}

/* Errors are the header's errno, and one message for an error that is not due to an argument. */
static void what_cannot_be_opened(const struct app *app)
{
        const struct { const char *path; int err; } cases[] = {
                { "/tmp/joulecast-no-such.db", -ENOENT }, { profile_path, -EBADMSG }, { folder, -EINVAL },
                { "/dev/null", -EINVAL }, { "", -EINVAL },
        };
        struct joulecast_usage *usage = NULL;
        struct joulecast_profile *profile = NULL;

        joulecast_context_set_log(app->context, count, NULL);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                sentences = 0;
                check_int(joulecast_usage_open(app->context, cases[i].path, &usage), cases[i].err);
                check_int(sentences, 1);
        }
        check_int(joulecast_context_set_device(app->context, "virtual:/tmp/joulecast-no-such.ini"), 0);
        sentences = 0;
        check_int(joulecast_usage_open(app->context, NULL, &usage), -ENOENT);
        check_int(joulecast_profile_load(app->context, NULL, &profile), -ENOENT);
        check_int(joulecast_profile_load(app->context, "/tmp/joulecast-no-such.ini", &profile), -ENOENT);
        check_int(sentences, 3);
        check_int(joulecast_context_set_device(app->context, NULL), 0);
        joulecast_context_set_log(app->context, NULL, NULL);
        check(!usage && !profile);
}

/* An empty name is refused where it is set, and not later with a message about an app without a name. */
static void no_name(const struct app *app)
{
        struct joulecast_forecast *forecast = NULL;
        struct joulecast_plan *plan = NULL;
        char name[JOULECAST_APP_MAX];

        check_int(joulecast_plan_new("", &plan), -EINVAL);
        check(!plan);
        check_int(joulecast_plan_new("game", &plan), 0);
        check_int(joulecast_plan_reserve(plan, "", 1), -EINVAL);
        joulecast_plan_free(plan);
        check_int(joulecast_forecast_new(app->profile, app->usage, "", 1, &forecast), -EINVAL);
        check_int(joulecast_forecast_new(app->profile, app->usage, "game", -1, &forecast), -EINVAL);
        check_int(joulecast_app_of_pid(-1, name, sizeof(name)), -EINVAL);
        check(!forecast);
}

/* NULL is no profile of its own, but answers nevertheless; a path that is not there is an error, as above. */
static void first_day(const struct app *app)
{
        struct joulecast_profile *profile = NULL;

        check_text(joulecast_profile_basis(app->profile), "calibrated");
        setenv("XDG_STATE_HOME", folder, 1);
        check_int(joulecast_context_set_device(app->context, "virtual:nexus-7"), 0);
        check_int(joulecast_profile_load(app->context, NULL, &profile), 0);
        check_text(profile ? joulecast_profile_basis(profile) : "", "class");
        check_text(profile ? joulecast_profile_device(profile) : "", "class-phone");
        joulecast_profile_free(profile);
        check_int(joulecast_context_set_device(app->context, NULL), 0);
}

int main(void)
{
        struct app app;

        name_database();
        snprintf(folder, sizeof(folder), "/tmp/joulecast-test-%d.d", (int)getpid());
        snprintf(profile_path, sizeof(profile_path), "/tmp/joulecast-test-%d.ini", (int)getpid());
        check_int(mkdir(folder, 0700), 0);
        record();
        save_profile();
        app_open(&app);
        the_stored_battery_stays(&app);
        coefficients(&app);
        without_an_app(&app);
        of_one_context(&app);
        all_components(&app);
        any_span(&app);
        what_cannot_be_opened(&app);
        first_day(&app);
        no_name(&app);
        app_close(&app);
        remove_database();
        unlink(profile_path);
        rmdir(folder);
        return check_result();
}
