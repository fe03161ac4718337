/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * answers library|service PROFILE DATABASE: what each public function of the library says, or the service to each
 * question. answers radio FILE NAME: what some traffic costs. Exit 1 and a sentence where one has no memory; then
 * nothing may be wrong that was printed.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "joulecast.h"
#include "question.h"
#include "radio/radio-pack.h"
#include "radio/radio-price.h"
#include "util/util.h"

static int failed(const char *what, int err)
{
        fprintf(stderr, "%s: %s\n", what, strerror(-err));
        return 1;
}

static int print_app(void *data, const char *app, const char *name, enum joulecast_state state, double active_s)
{
        printf("app %s %s %d %.3f\n", app, name, state, active_s);
        return 0;
}

static void print_value(const char *what, struct joulecast_value value)
{
        printf("%s %.6f %.6f %.6f\n", what, value.value, value.low, value.high);
}

static void print_profile(const struct joulecast_profile *profile)
{
        struct joulecast_coefficient coefficient;

        printf("%s %s %.1f\n", joulecast_profile_device(profile), joulecast_profile_method(profile),
               joulecast_profile_energy_full_mwh(profile));
        for (size_t i = 0; i < joulecast_profile_count(profile); i++)
                if (joulecast_profile_coefficient(profile, i, &coefficient) == 0)
                        printf("%s %.4f\n", coefficient.key, coefficient.value);
}

static void print_cost(const struct joulecast_cost *cost)
{
        struct joulecast_cost_app app;
        const char *missing;

        printf("%.3f %.3f %.3f\n", joulecast_cost_measured_j(cost), joulecast_cost_base_j(cost),
               joulecast_cost_unexplained_j(cost));
        print_value("total", joulecast_cost_total_j(cost));
        for (size_t i = 0; i < joulecast_cost_count(cost); i++)
                if (joulecast_cost_app(cost, i, &app) == 0)
                        print_value(app.app, app.energy_j);
        for (size_t i = 0; (missing = joulecast_cost_not_measured(cost, i)); i++)
                puts(missing);
        if (joulecast_cost_find(cost, "angry-birds", JOULECAST_FOREGROUND, &app) == 0)
                print_value(app.name, app.percent);
}

static int make_plan(struct joulecast_plan **ret)
{
        int err = joulecast_plan_new("angry-birds", ret);

        if (!err)
                err = joulecast_plan_reserve(*ret, "phone", 10);
        if (!err)
                err = joulecast_plan_standby(*ret, 180);
        if (!err)
                err = joulecast_plan_keep(*ret, 2);
        return err ? err : joulecast_plan_battery(*ret, 40);
}

static int ask_library(const char *profile_path, const char *database)
{
        struct joulecast_context *context = NULL;
        struct joulecast_profile *profile = NULL;
        struct joulecast_usage *usage = NULL;
        struct joulecast_cost *cost = NULL;
        struct joulecast_forecast *forecast = NULL;
        struct joulecast_plan *plan = NULL;
        struct joulecast_budget *budget = NULL;
        int64_t from_ns = 0, to_ns = 0;
        double percent = NAN;
        int plugged = -1, err;
        char app[JOULECAST_APP_MAX];

        err = joulecast_context_new(&context);
        err = err ? err : joulecast_context_set_device(context, "virtual:nexus-7");
        err = err ? err : joulecast_context_set_device(context, NULL);
        err = err ? err : joulecast_profile_load(context, profile_path, &profile);
        if (!err)
                print_profile(profile);
        err = err ? err : joulecast_usage_open(context, database, &usage);
        err = err ? err : joulecast_usage_span(usage, &from_ns, &to_ns);
        err = err ? err : joulecast_usage_apps(usage, print_app, NULL);
        err = err ? err : joulecast_usage_battery(usage, &percent, &plugged);
        if (!err)
                printf("%.1f s, %.1f %% %d\n", (double)(to_ns - from_ns) / 1e9, percent, plugged);
        err = err ? err : joulecast_cost_new(profile, usage, from_ns, to_ns, &cost);
        if (!err)
                print_cost(cost);
        err = err ? err : joulecast_forecast_new(profile, usage, "angry-birds", 20, &forecast);
        if (!err) {
                print_value(joulecast_forecast_app(forecast), joulecast_forecast_percent(forecast));
                print_value(joulecast_forecast_basis(forecast), joulecast_forecast_device_percent(forecast));
        }
        err = err ? err : make_plan(&plan);
        err = err ? err : joulecast_budget_new(profile, usage, plan, &budget);
        if (!err) {
                print_value(joulecast_budget_app(budget), joulecast_budget_minutes(budget));
                printf("%.4f %.1f %s\n", joulecast_budget_reserved_percent(budget),
                       joulecast_budget_battery_percent(budget), joulecast_budget_basis(budget));
        }
        err = err ? err : joulecast_app_of_pid(getpid(), app, sizeof(app));
        joulecast_budget_free(budget);
        joulecast_plan_free(plan);
        joulecast_forecast_free(forecast);
        joulecast_cost_free(cost);
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        joulecast_context_free(context);
        return err ? failed("library", err) : 0;
}

static int ask_service(const char *profile, const char *database)
{
        static const char *const questions[] = {
                "{\"ask\": \"apps\"}", "{\"ask\": \"usage\"}", "{\"ask\": \"cost\"}", "{\"ask\": \"service\"}",
                "{\"ask\": \"predict\", \"app\": \"angry-birds\", \"minutes\": 20}",
                "{\"ask\": \"advise\"}",
                "{\"ask\": \"whatif\", \"close\": [\"angry-birds\"], \"off\": [\"wifi\"], "
                "\"brightness_percent\": 40, \"battery_percent\": 40}",
                "{\"ask\": \"budget\", \"app\": \"angry-birds\", \"standby\": 180, \"battery_percent\": 40, "
                "\"reserve\": []}",
        };
        const struct question_source source = { .database = database, .profile = profile };

        for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
                _cleanup_free_ char *answer = question_answer(&source, 0, questions[i], strlen(questions[i]));

                if (!answer || strncmp(answer, "{\"error\"", 8) == 0) {
                        fprintf(stderr, "service: %s", answer ? answer : "no answer\n");
                        return 1;
                }
                printf("service: %s", answer);
        }
        return 0;
}

/* Packs and unpacks the amounts, and prints their size and energy. */
static int print_amounts(const struct radio_price *price, const struct radio_amounts *amounts)
{
        _cleanup_free_ unsigned char *packed = NULL;
        struct radio_amounts unpacked = { 0 };
        size_t n = 0;
        int err = radio_pack(price->shape, amounts, &packed, &n);

        if (!err)
                err = radio_unpack(price->shape, packed, n, &unpacked);
        if (err)
                return err;
        printf("%d: %zu bytes, %.6f J\n", (int)amounts->owner, n, radio_price_j(price, &unpacked));
        free(unpacked.cells);
        return 0;
}

static int ask_radio(const char *path, const char *name)
{
        struct radio_burst bursts[] = { { 1, 1000000, 40000000, { 9, 4 }, { 900, 9000 }, 3 },
                                        { 2, 3000000000, 3000000000, { 1, 0 }, { 60, 0 }, 0 } };
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        _cleanup_(radio_price_clear) struct radio_price price = { 0 };
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        _cleanup_(radio_clear) struct radio radio = { 0 };
        const struct log quiet = { 0 };
        struct radio_shape shape;
        bool others;
        int err;

        radio_shape_make(&shape, 1000, 0.5, 0.5, true, 0);
        err = radio_load(path, &quiet, &radios, &others);
        err = err ? err : radio_with_carrier(&radios, name, NULL, &radio);
        err = err ? err : radio_price_make(&price, &radio, RADIO_SIGNAL_HIGH, &shape);
        err = err ? err : radio_ladder_start(&ladder, &shape);
        for (int64_t s = 2; !err && s <= 6; s += 2) {
                err = radio_ladder_poll(&ladder, bursts, s < 6 ? (size_t)s / 2 : 0, s * INT64_C(1000000000));
                for (size_t i = 0; !err && i < ladder.n_owners; i++)
                        err = print_amounts(&price, &ladder.owners[i]);
        }
        return err ? failed("radio", err) : 0;
}

int main(int argc, char **argv)
{
        int code;

        if (argc != 4)
                return 2;
        code = strcmp(argv[1], "service") == 0 ? ask_service(argv[2], argv[3]) :
               strcmp(argv[1], "radio") == 0   ? ask_radio(argv[2], argv[3]) :
                                                 ask_library(argv[2], argv[3]);
        return fflush(stdout) == 0 ? code : 1;
}
