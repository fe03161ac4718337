/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Forecasts from a history that was made up, against numbers by hand. */

#include <errno.h>

#include "check.h"
#include "forecast/charge.h"
#include "forecast/forecast.h"
#include "forecast/rate.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))
#define HEAD "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
/* No misfit, as on a device whose learning found that apps draw exactly what the counters explain. */
#define EXACT "[learned]\nspans = 1\nmisfit_cpu_percent = 0\nmisfit_display_percent = 0\nmisfit_radio_percent = 0\n" \
              "misfit_front_mw = 0\nmisfit_behind_mw = 0\n"
#define FIT HEAD "[fit]\ndegrees_of_freedom = 30\nscale_percent = 1\n" EXACT
#define NUMBERS \
        "[base]\npower_mw = 100 1\nx-background_sd_mw = 0\n[cpu 0]\nactive_mw.400000 = 500 5\n" \
        "shared_mw.400000 = 0 0\n" \
        "[display]\npower_mw.100 = 400 4\n[gpu]\nactive_mw = 1 0\n"

static struct profile *parse(const char *text)
{
        struct profile *profile = NULL;

        check_int(profile_parse(text, strlen(text), "hand", NULL, &profile), 0);
        return profile;
}

static struct forecast_battery unknown_battery;

static void add(struct history *history, uint64_t poll, const char *app, enum app_state state,
                const struct usage *usage)
{
        struct store_row row = { .start_ns = (int64_t)S(30 * poll), .end_ns = (int64_t)S(30 * poll + 30), .app = app,
                                 .name = app && *app ? "The Game" : "", .state = state, .usage = usage,
                                 .active_ns = app && *app ? S(30) : 0 };

        if (app && strcmp(app, "game") != 0)
                row.name = app;
        check_int(history_add(history, &row), 0);
}

/*
 * Polls of 30 s: in the first @play of each 100 the game has the screen and a core (0.4 + 0.5 W); a sync runs
 * always, at 0.05 W while the game plays and at 0.02 W otherwise. A call of 0.4 W in five more.
 */
static struct history *make_of(const struct profile *profile, uint64_t play, uint64_t polls)
{
        _cleanup_(history_freep) struct history *history = NULL;

        check_int(history_new(profile, &history), 0);
        for (uint64_t poll = 0; poll < polls; poll++) {
                bool plays = poll % 100 < play, calls = !plays && poll % 100 >= 95;
                struct point core = { .khz = 400000, .busy_ns = S(30), .any_ns = S(30) };
                struct point some = { .khz = 400000, .busy_ns = S(plays ? 3 : 1.2), .any_ns = S(plays ? 3 : 1.2) };
                struct point screen = { .brightness = 100, .on_ns = S(30) };
                struct usage nobody = { .have = USAGE_ALL, .time_ns = S(30) };
                struct usage game = { .have = USAGE_ALL, .cpu = { &core, 1 }, .screen = { &screen, 1 } };
                struct usage call = { .have = USAGE_ALL, .screen = { &screen, 1 } };
                struct usage sync = { .have = USAGE_ALL, .cpu = { &some, 1 } };

                add(history, poll, "", STATE_BACKGROUND, &nobody);
                add(history, poll, "sync", STATE_BACKGROUND, &sync);
                if (plays)
                        add(history, poll, "game", STATE_FOREGROUND, &game);
                if (calls)
                        add(history, poll, "phone", STATE_FOREGROUND, &call);
        }
        check_int(history_finish(history), 0);
        return TAKE_PTR(history);
}

static struct history *make(const struct profile *profile, uint64_t play)
{
        return make_of(profile, play, 300);
}

/* Two users run it all the time: its hour counts once, and so does its learnt power. */
static void of_two_users(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse(FIT NUMBERS "[app 1]\nid = sync\nbehind_mw = 60\n");
        _cleanup_(history_freep) struct history *history = NULL;
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(30) }, sync = { .have = USAGE_ALL, .gpu_busy_ns = 1 };
        struct store_poll level = { .elapsed_ns = S(30), .discharge_j = 400, .discharge_percent = 1,
                                    .battery.capacity_percent = 50 };

        check_int(history_new(profile, &history), 0);
        for (uint64_t poll = 0; poll < 120; poll++) {
                level.start_ns = (int64_t)S(30 * poll);
                level.end_ns = (int64_t)S(30 * poll + 30);
                check_int(history_add_level(history, &level), 0);
        }
        for (uint64_t poll = 0; poll < 120; poll++) {
                add(history, poll, "sync", STATE_BACKGROUND, &sync); /* in any order */
                add(history, poll, "", STATE_BACKGROUND, &nobody);
                add(history, poll, "sync", STATE_BACKGROUND, &sync);
        }
        check_int(history_finish(history), 0);
        for (size_t i = 0; i < history->n_apps; i++)
                if (strcmp(history->apps[i].app, "sync") == 0)
                        check_near(history->apps[i].states[STATE_BACKGROUND].active_s, 3600, 1e-6);
        check(history->n_spans > 0);
        for (size_t i = 0; i < history->n_spans; i++)
                check_near(history->spans[i].model_j, (0.1 + 0.06) * history->spans[i].seconds, 1e-6);
}

static void what_it_will_cost(const struct history *history)
{
        struct forecast forecast;

        check_int(forecast_app(history, "game", 20, &unknown_battery, &forecast), 0);
        check_near(forecast.energy_j.value, 0.9 * 1200, 1e-6);
        check_near(forecast.percent.value, 0.9 * 1200 / 360, 1e-6);
        check(forecast.energy_j.low < forecast.energy_j.value &&
              forecast.energy_j.value < forecast.energy_j.high);
        check(forecast.energy_j.high - forecast.energy_j.value < 0.1 * forecast.energy_j.value);
        /*
         * with base and the sync at what it draws while the game plays,
         * but for the prior that pulls it to the mean
         */
        check_near(forecast.device_percent.value, (0.9 + 0.1 + 0.05) * 1200 / 360, 0.06);
        check_int(forecast_app(history, "The Game", 20, &unknown_battery, &forecast), 0);
        check_text(forecast.app, "game");
        check_int(forecast_app(history, "chess", 20, &unknown_battery, &forecast), -ENODATA);
        check_int(forecast_app(history, "game", -1, &unknown_battery, &forecast), -EINVAL);
        check_int(forecast_app(history, "game", NAN, &unknown_battery, &forecast), -EINVAL);
        /* One that never has the screen. */
        check_int(forecast_app(history, "sync", 10, &unknown_battery, &forecast), 0);
        check_near(forecast.energy_j.value, 600 * (0.05 * 0.4 + 0.02 * 0.6), 1e-6);
        check(forecast.device_percent.value < 600 * (0.1 + 0.06) / 360); /* it is not counted twice */
}

/*
 * A radio at 0.5 W, ten minutes on and ten off, with the screen off. What others draw meanwhile is known as well
 * as their mean over five hours, and not as badly as that of an app's first ten minutes on the screen.
 */
static void never_had_the_screen(const struct profile *profile)
{
        _cleanup_(history_freep) struct history *history = NULL;
        struct forecast forecast;

        check_int(history_new(profile, &history), 0);
        for (uint64_t poll = 0; poll < 600; poll++) {
                struct point half = { .khz = 400000, .busy_ns = S(30), .any_ns = S(30) };
                struct usage nobody = { .have = USAGE_ALL, .time_ns = S(30) };
                struct usage radio = { .have = USAGE_ALL, .cpu = { &half, 1 } };

                add(history, poll, "", STATE_BACKGROUND, &nobody);
                if (poll % 40 < 20)
                        add(history, poll, "radio", STATE_BACKGROUND, &radio);
        }
        check_int(history_finish(history), 0);
        check_int(forecast_app(history, "radio", 120, &unknown_battery, &forecast), 0);
        check_near(forecast.device_percent.value, 7200 * (0.5 + 0.1) / 360, 1e-6);
        check(forecast.device_percent.high < 1.2 * forecast.device_percent.value);
}

/*
 * Two minutes of a game an hour, at 0.86 and 0.94 W in turn. As its variation within two minutes was not seen, all
 * variation is the sessions', and none is the assumed one of minutes.
 */
static void short_sessions(const struct profile *profile)
{
        _cleanup_(history_freep) struct history *history = NULL;
        struct rate rate;

        check_int(history_new(profile, &history), 0);
        for (uint64_t poll = 0; poll < 8 * 120; poll++) {
                uint64_t busy_ns = S(30) * (poll / 120 % 2 ? 94 : 86) / 50;
                struct point cores = { .khz = 400000, .busy_ns = busy_ns, .any_ns = S(30) };
                struct usage nobody = { .have = USAGE_ALL, .time_ns = S(30) };
                struct usage game = { .have = USAGE_ALL, .cpu = { &cores, 1 } };

                add(history, poll, "", STATE_BACKGROUND, &nobody);
                if (poll % 120 < 4)
                        add(history, poll, "game", STATE_FOREGROUND, &game);
        }
        check_int(history_finish(history), 0);
        check_int(rate_of_app(history, (size_t)history_find(history, "game"), STATE_FOREGROUND, &rate), 0);
        check(rate.power_w > 0.902 && rate.power_w < 0.91); /* the last one, at 0.94 W, weighs more */
        check_int((int)rate.n_sessions, 8);
        check_near(rate.session_sd_w, 0.04, 0.005);
        rate_clear(&rate);
}

/* Two apps of one name, like a browser and its flatpak: the name is ambiguous, so the id is needed. */
static void two_of_a_name(const struct profile *profile)
{
        const char *const ids[] = { "org.game.One", "org.game.Two" };
        _cleanup_(history_freep) struct history *history = NULL;

        check_int(history_new(profile, &history), 0);
        for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
                const struct store_row row = {
                        .end_ns = (int64_t)S(30), .app = ids[i], .name = "Chess", .active_ns = S(30)
                };

                check_int(history_add(history, &row), 0);
                check_int(history_find(history, "chess"), i == 0 ? 1 : -EEXIST);
        }
        check_int(history_finish(history), 0);
        check_int(history_find(history, "org.game.Two"), 2);
        check_int(history_find(history, "go"), -ENOENT);
}

static struct budget ask(const struct history *history, const struct budget_plan *plan)
{
        struct budget budget = { .minutes = { NAN, NAN, NAN } };

        check_int(forecast_budget(history, plan, &unknown_battery, NULL, &budget), 0);
        return budget;
}

static void how_long(const struct history *history)
{
        struct budget_plan plan = { .app = "game", .battery_percent = 20 };
        struct budget all = ask(history, &plan), some;
        double play_w = 1.05, minutes;

        /* 20 % are 7200 J */
        check_near(all.minutes.value, 7200 / play_w / 60, 2);
        check(all.minutes.low > 0.8 * all.minutes.value && all.minutes.low < 0.99 * all.minutes.value);
        check(all.minutes.high > 1.01 * all.minutes.value && all.minutes.high < 1.25 * all.minutes.value);
        check_near(all.reserved_percent, 0, 0);
        check_near(all.battery_percent, 20, 0);

        plan.standby_minutes = 180; /* 0.12 W */
        plan.reserves[0] = (struct budget_reserve){ "phone", 10 }; /* 0.4 W, base and the sync */
        plan.n_reserves = 1;
        plan.keep_percent = 5;
        some = ask(history, &plan);
        check_near(some.reserved_percent, 5 + (180 * 60 * 0.12 + 600 * 0.52) / 360, 0.25);
        minutes = (7200 - 360 * some.reserved_percent) / 60 * (all.minutes.value * 60 / 7200);
        check_near(some.minutes.value, minutes, 1e-2 * minutes);
        check(some.minutes.low < some.minutes.value);

        plan.battery_percent = 6;
        some = ask(history, &plan);
        check_near(some.minutes.value, 0, 0);
        check_near(some.minutes.low, 0, 0);
}

static void what_is_wrong(const struct history *history)
{
        struct budget_plan plan = { .app = "game", .battery_percent = NAN };
        const char *missing = NULL;
        struct budget budget;

        check_int(forecast_budget(history, &plan, &unknown_battery, NULL, &budget), -ENODEV);
        plan.battery_percent = 20;
        plan.reserves[0] = (struct budget_reserve){ "fax", 10 };
        plan.n_reserves = 1;
        check_int(forecast_budget(history, &plan, &unknown_battery, &missing, &budget), -ENODATA);
        check_text(missing, "fax");
        plan.n_reserves = 0;
        plan.keep_percent = 101;
        check_int(forecast_budget(history, &plan, &unknown_battery, NULL, &budget), -EINVAL);
        plan.keep_percent = 0;
        plan.standby_minutes = NAN;
        check_int(forecast_budget(history, &plan, &unknown_battery, NULL, &budget), -EINVAL);
}

static void the_battery(const struct history *history)
{
        struct forecast_battery battery = {
                .known = true, .live = true,
                .battery = { .have = BATTERY_CAPACITY, .status = BATTERY_CHARGING, .capacity_percent = 50 },
        };
        struct budget_plan plan = { .app = "game", .battery_percent = NAN };
        struct budget budget;
        struct charge charge;

        check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
        check_near(budget.battery_percent, 50, 0);
        check(strstr(budget.basis, "as if unplugged now") != NULL);
        check(strstr(budget.basis, "battery read now") != NULL);
        check_int(charge_of(history, &battery.battery, 0, NAN, &charge), 0);
        check_near(charge.percent, 50.5, 1e-12); /* floored */
        check(!charge.falls);
        check_near(charge_energy_j(&charge, 0), 50.5 * 360, 1e-9);

        /* 3 Ah at 4.0 V: one percent is 0.03 Ah * 4.0 V = 432 J there, and less further down. */
        battery.battery.have |= BATTERY_CHARGE_FULL | BATTERY_VOLTAGE;
        battery.battery.charge_full_uah = 3000000;
        battery.battery.voltage_uv = 4000000;
        check_int(charge_of(history, &battery.battery, 0, 50, &charge), 0);
        check_near(charge.percent_j, 432, 0.5); /* seen at 50.5 %, in the middle of the step */
        check(charge_energy_j(&charge, 0) < 50 * 432 && charge_energy_j(&charge, 0) > 0.95 * 50 * 432);
        check_near(charge_energy_j(&charge, 49), 432, 1.5);
        check(charge_energy_j(&charge, 60) < 0);
        check_int(charge_of(history, &battery.battery, 0, 20, &charge), 0);
        check(charge.percent_j < 432); /* the voltage was seen at 50 % */
}

/* A battery that counts energy, and holds less than in the night of its calibration. */
static void an_aged_battery(const struct history *history)
{
        struct forecast_battery battery = {
                .known = true, .live = true,
                .battery = { .have = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, .status = BATTERY_DISCHARGING,
                             .energy_now_uwh = 4000000, .energy_full_uwh = 8000000 },
        };
        struct budget_plan plan = { .app = "game", .battery_percent = NAN };
        struct budget budget;
        struct charge charge;

        check_int(charge_of(history, &battery.battery, 0, NAN, &charge), 0);
        check_near(charge.percent, 50, 1e-12);
        check_near(charge_energy_j(&charge, 0), 4 * 3600, 1e-6); /* 4 of 8 Wh, and not 5 of the profile's 10 */
        check_int(charge_of(history, &battery.battery, 0, 25, &charge), 0);
        check_near(charge_energy_j(&charge, 0), 2 * 3600, 1e-6);
        check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
        check_near(budget.minutes.value, 4 * 3600 / 1.05 / 60, 2);
}

/* The same voltage under a load is a fuller battery than at rest, and than on the charger an emptier one. */
static void the_load_it_was_read_under(const struct history *history)
{
        const struct { enum battery_status status; uint32_t power_w; } cases[] = {
                { BATTERY_CHARGING, 10 }, { BATTERY_NOT_CHARGING, 0 }, { BATTERY_DISCHARGING, 5 } };
        struct forecast_battery battery = {
                .known = true, .live = true,
                .battery = { .have = BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE | BATTERY_POWER,
                             .capacity_percent = 50, .charge_full_uah = 2600000, .voltage_uv = 3800000 },
        };
        struct budget_plan plan = { .app = "game", .battery_percent = NAN };
        double before = 0;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct budget budget;

                battery.battery.status = cases[i].status;
                battery.battery.power_uw = cases[i].power_w * UINT64_C(1000000);
                check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
                check(budget.minutes.value > before);
                /* At 10 Wh, 10 W are 1 C: the voltage is 13 % higher, and so is the energy computed from it. */
                if (i == 1)
                        check_near(before / budget.minutes.value, 0.87, 0.01);
                before = budget.minutes.value;
        }
        battery.battery.have &= ~(uint32_t)BATTERY_POWER;
        for (int fed = 0; fed < 2; fed++) {
                struct budget budget;

                battery.battery.status = fed ? BATTERY_FULL : BATTERY_DISCHARGING;
                check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
                check(fed ? budget.minutes.value < before : budget.minutes.value > 0);
                before = budget.minutes.value;
        }
}

/*
 * A pack of 0.3 ohm, polled at 0.3 W and at 2.3 W in turn; just after its load ended the sensor still shows
 * it. Its sag is not that of a usual pack, and that reading's voltage is one at rest.
 */
static void what_the_polls_say(const struct profile *profile)
{
        struct battery battery = { .have = BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE | BATTERY_POWER,
                                   .status = BATTERY_DISCHARGING, .capacity_percent = 50, .charge_full_uah = 2600000 };
        const double rest_v = 3.8, ohm = 0.3;
        _cleanup_(history_freep) struct history *history = NULL;
        struct charge before, charge;

        check_int(history_new(profile, &history), 0);
        battery.voltage_uv = (uint64_t)(rest_v * 1e6);
        battery.power_uw = 2300000;
        check_int(charge_of(history, &battery, 2.3, NAN, &before), 0);
        for (int i = 0; i < 40; i++) {
                double load_w = i / 4 % 2 ? 2.3 : 0.3;
                struct store_poll level = { .start_ns = (int64_t)S(30 * i),
                                            .end_ns = (int64_t)S(30 * (i + 1)),
                                            .battery = battery };

                level.battery.power_uw = (uint64_t)(load_w * 1e6);
                level.battery.voltage_uv = (uint64_t)((rest_v - load_w / rest_v * ohm) * 1e6);
                check_int(history_add_level(history, &level), 0);
        }
        check_int(charge_of(history, &battery, 2.3, NAN, &charge), 0);
        check_near(charge.sag_per_w, ohm / (rest_v * rest_v), 0.15 * ohm / (rest_v * rest_v));
        check_near(charge.percent_j, 0.026 * 3600 * rest_v, 0.005 * 356);
        check(before.percent_j > 1.02 * charge.percent_j);
        check(before.sag_per_w < 0.75 * charge.sag_per_w);
}

static void without_errors(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse(HEAD NUMBERS);
        _cleanup_(history_freep) struct history *history = profile ? make(profile, 40) : NULL;
        struct budget_plan plan = { .app = "game", .battery_percent = 20 };
        struct budget budget;

        if (!history)
                return;
        budget = ask(history, &plan);
        check(budget.minutes.value > 0);
        check(isnan(budget.minutes.low) && isnan(budget.minutes.high));
        check(strstr(budget.basis, "no error estimates") != NULL);
}

/* Nothing is promised for a component without a coefficient, as its energy comes on top. */
static void without_display(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse(FIT "[base]\npower_mw = 100 1\n[cpu 0]\n"
                                                                 "active_mw.400000 = 500 5\nshared_mw.400000 = 0 0\n");
        _cleanup_(history_freep) struct history *history = profile ? make(profile, 40) : NULL;
        struct budget_plan plan = { .app = "game", .battery_percent = 20 };
        struct forecast forecast;
        struct budget budget;

        if (!history)
                return;
        check_int(forecast_app(history, "game", 20, &unknown_battery, &forecast), 0);
        check_near(forecast.energy_j.value, 0.5 * 1200, 1e-6); /* a core; the screen would be 0.4 W more */
        check(forecast.energy_j.low < 600 && isnan(forecast.energy_j.high));
        check(forecast.percent.low < forecast.percent.value && isnan(forecast.percent.high));
        check(forecast.device_percent.low < forecast.device_percent.value && isnan(forecast.device_percent.high));
        check(strstr(forecast.basis, "lacks coefficients of display") != NULL);
        budget = ask(history, &plan);
        check_near(budget.minutes.value, 7200 / 0.65 / 60, 3); /* not 7200 / 1.05 / 60 */
        check(isnan(budget.minutes.low) && budget.minutes.high > budget.minutes.value);
        check(strstr(budget.basis, "lacks coefficients of display") != NULL);

        /* A component without a coefficient has the same effect if only a reserve uses it, unless that has no time. */
        plan = (struct budget_plan){
                .app = "sync", .battery_percent = 20, .reserves = { { "game", 10 } }, .n_reserves = 1
        };
        budget = ask(history, &plan);
        check(isnan(budget.minutes.low) && strstr(budget.basis, "display"));
        plan.reserves[0].minutes = 0;
        budget = ask(history, &plan);
        check(budget.minutes.low < budget.minutes.value && !strstr(budget.basis, "display"));
}

/* Screen time of no app and suspended time are no needs of an app: unknown prices of theirs spoil no promise. */
static void what_is_not_used(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse(FIT "[base]\npower_mw = 100 1\n[cpu 0]\nactive_mw.400000 = 500 5\nshared_mw.400000 = 0 0\n");
        _cleanup_(history_freep) struct history *history = NULL;
        struct budget_plan plan = { .app = "radio", .battery_percent = 20, .standby_minutes = 60 };
        struct point screen = { .brightness = 100, .on_ns = S(5) };
        struct point half = { .khz = 400000, .busy_ns = S(15), .any_ns = S(15) };
        struct budget budget;

        check_int(history_new(profile, &history), 0);
        for (uint64_t poll = 0; poll < 100; poll++) {
                struct usage nobody = {
                        .have = USAGE_ALL, .time_ns = S(20), .suspend_ns = S(10), .screen = { &screen, 1 }
                };
                struct usage radio = { .have = USAGE_ALL, .cpu = { &half, 1 } };

                add(history, poll, "", STATE_BACKGROUND, &nobody);
                add(history, poll, "radio", STATE_BACKGROUND, &radio);
        }
        check_int(history_finish(history), 0);
        budget = ask(history, &plan);
        check(budget.minutes.low > 0 && budget.minutes.low < budget.minutes.value);
        check(!strstr(budget.basis, "lacks"));
}

/* Unknown is neither 0 nor without end. */
static void nothing_known(void)
{
        static const struct {
                const char *text;
                bool base;
        } cases[] = { { FIT, false }, { FIT "[base]\npower_mw = 100 1\n", true } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(profile_freep) struct profile *profile = parse(cases[i].text);
                _cleanup_(history_freep) struct history *history = profile ? make(profile, 40) : NULL;
                struct budget_plan plan = { .app = "game", .battery_percent = 20, .reserves = { { "phone", 10 } },
                                            .n_reserves = 1 };
                struct forecast forecast;
                struct budget budget;

                if (!history)
                        return;
                check_int(forecast_app(history, "game", 20, &unknown_battery, &forecast), 0);
                check(isnan(forecast.energy_j.value) && isnan(forecast.energy_j.low) && isnan(forecast.energy_j.high));
                check(isnan(forecast.percent.value) && isnan(forecast.percent.low));
                check(isnan(forecast.device_percent.value) == !cases[i].base);
                budget = ask(history, &plan);
                check(isnan(budget.minutes.value) == !cases[i].base && isnan(budget.minutes.low));
                check(isnan(budget.minutes.high) == !cases[i].base);
                check(isnan(budget.reserved_percent) == !cases[i].base);
        }
}

/* A device that draws next to nothing lasts for years: the budget has its largest value. */
static void without_end(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse(FIT "[base]\npower_mw = 1e-6 0\nx-background_sd_mw = 0\n");
        _cleanup_(history_freep) struct history *history = NULL;
        struct budget_plan plan = { .app = "radio", .battery_percent = 20 };
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(30) }, radio = { .have = USAGE_ALL };
        struct budget budget;

        check_int(history_new(profile, &history), 0);
        add(history, 0, "", STATE_BACKGROUND, &nobody);
        add(history, 0, "radio", STATE_BACKGROUND, &radio);
        check_int(history_finish(history), 0);
        budget = ask(history, &plan);
        check_near(budget.minutes.low, 1e6, 0);
        check_near(budget.minutes.value, 1e6, 0);
        check_near(budget.minutes.high, 1e6, 0);
}

/* 4 Wh at 48 W last five minutes; the history, of 50 minutes, is of an app that takes about 1 W. */
static void before_there_is_a_history(const struct profile *profile, const struct history *long_history)
{
        struct forecast_battery battery = {
                .known = true,
                .live = true,
                .battery = { .have = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL | BATTERY_POWER,
                             .status = BATTERY_DISCHARGING,
                             .energy_now_uwh = 4000000,
                             .energy_full_uwh = 8000000,
                             .power_uw = 48000000 },
        };
        struct budget_plan plan = { .app = "game", .battery_percent = NAN }, mixed = { .battery_percent = NAN };
        _cleanup_(history_freep) struct history *history = make_of(profile, 40, 100), *first = make_of(profile, 8, 10);
        struct budget budget;

        check(history && history->awake_s > 600 && history->awake_s < 3600);
        check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
        check_near(budget.recorded_s, history->awake_s, 0);
        check_near(budget.minutes.low, 5, 1e-6);
        check(budget.minutes.value > 30);
        check_int(forecast_budget(history, &mixed, &battery, NULL, &budget), 0);
        check_near(budget.minutes.low, 5, 1e-6);
        check(budget.minutes.value > 5 && budget.minutes.value < 60);
        check(first && first->awake_s < 600);
        check_int(forecast_budget(first, &mixed, &battery, NULL, &budget), 0);
        check_near(budget.minutes.value, 5, 1e-6);
        plan.keep_percent = 25;
        check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
        check_near(budget.minutes.low, 2.5, 1e-6);
        plan.keep_percent = 60;
        check_int(forecast_budget(history, &plan, &battery, NULL, &budget), 0);
        check_near(budget.minutes.low, 0, 0);
        plan.keep_percent = 0;
        /* An hour and more of history decides, and so does the model if the sensor shows nothing. */
        check_int(forecast_budget(long_history, &plan, &battery, NULL, &budget), 0);
        check(budget.minutes.low > 30);
        for (int i = 0; i < 3; i++) {
                struct forecast_battery other = battery;

                other.live = i != 0;
                other.battery.status = i == 1 ? BATTERY_CHARGING : BATTERY_DISCHARGING;
                other.battery.power_uw = i == 2 ? 0 : other.battery.power_uw;
                check_int(forecast_budget(history, &plan, &other, NULL, &budget), 0);
                check(budget.minutes.low > 30);
        }
}

int main(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse(FIT NUMBERS);
        _cleanup_(history_freep) struct history *history = profile ? make(profile, 40) : NULL;

        if (!history)
                return 1;
        check_int(history->n_apps, 4);
        check_near(history->awake_s, 9000, 1e-6);
        what_it_will_cost(history);
        how_long(history);
        what_is_wrong(history);
        the_battery(history);
        an_aged_battery(history);
        the_load_it_was_read_under(history);
        what_the_polls_say(history->profile);
        never_had_the_screen(profile);
        short_sessions(profile);
        two_of_a_name(profile);
        without_errors();
        without_display();
        what_is_not_used();
        nothing_known();
        of_two_users();
        without_end();
        before_there_is_a_history(profile, history);
        return check_result();
}
