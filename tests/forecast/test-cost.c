/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Costs of rows that were made up, against sums by hand. */

#include <errno.h>
#include <math.h>

#include "check.h"
#include "forecast/cost.h"
#include "util/tuning.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))

static const char text[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n"
                           "[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100 2\nx-background_sd_mw = 0\n"
                           "[cpu 0]\nactive_mw.400000 = 200 10\nshared_mw.400000 = 0 0\n"
                           "[display]\npower_mw.100 = 500 5\n[disk]\nread_mj_per_mb = 6 0\nwrite_mj_per_mb = 25 0\n"
                           "[wifi]\non_mw = 30 0\nrx_mj_per_mb = 350 0\ntx_mj_per_mb = 550 0\nwake_mj = 100 0\n";

static struct profile *parse(const char *string)
{
        struct profile *profile = NULL;

        check_int(profile_parse(string, strlen(string), "hand", NULL, &profile), 0);
        return profile;
}

/* Profile of a device whose learning found no misfit: apps draw exactly what the counters explain. */
static struct profile *parse_exact(const char *string)
{
        struct profile *profile = parse(string);

        if (profile)
                profile->learned.misfit_cpu_percent = profile->learned.misfit_display_percent =
                        profile->learned.misfit_radio_percent = profile->learned.misfit_front_mw =
                                profile->learned.misfit_behind_mw = 0;
        return profile;
}

static void add(struct cost_maker *maker, const char *app, enum app_state state, double active_s,
                const struct usage *usage)
{
        struct store_row row = { .start_ns = 1000, .end_ns = 2000, .app = app, .name = app, .state = state,
                                 .active_ns = S(active_s), .usage = usage };

        check_int(cost_maker_add(maker, &row), 0);
}

/* Usage of the base, a game in front twice and once behind, and an app that was only alive. */
static struct cost *make(const struct profile *profile, const struct store_battery *battery, uint32_t lacking)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        struct point cpu = { .khz = 400000, .busy_ns = S(10), .any_ns = S(8) };
        struct point screen = { .brightness = 100, .on_ns = S(30) };
        struct usage front = { .have = USAGE_ALL & ~lacking, .cpu = { &cpu, 1 }, .screen = { &screen, 1 } };
        struct usage behind = { .have = USAGE_ALL, .cpu = { &cpu, 1 }, .read_bytes = 1000000, .wifi_wakes = 2 };
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(100), .wifi_on_ns = S(100), .screen = { &screen, 1 } };
        struct usage nothing = { .have = USAGE_ALL };
        struct cost *cost = NULL;

        check_int(cost_maker_new(&maker), 0);
        if (!maker)
                return NULL;
        add(maker, "", STATE_BACKGROUND, 0, &nobody);
        add(maker, "game", STATE_FOREGROUND, 30, &front);
        add(maker, "game", STATE_BACKGROUND, 60, &behind);
        add(maker, "game", STATE_FOREGROUND, 30, &front);
        add(maker, "quiet", STATE_BACKGROUND, 100, &nothing);
        check_int(cost_maker_finish(maker, profile, battery, &cost), 0);
        return cost;
}

static void sums(const struct profile *profile)
{
        struct store_battery battery = { .discharge_uj = 60000000, .discharge_percent = 0.2, .known_ns = S(100),
                                         .elapsed_ns = S(100) };
        _cleanup_(cost_freep) struct cost *cost = make(profile, &battery, 0);
        double sum;

        if (!cost)
                return;
        check_int(cost->n_apps, 3);
        check_text(cost->apps[0].app, "game");
        check_int(cost->apps[0].state, STATE_FOREGROUND);
        check_near(cost->apps[0].active_s, 60, 0);
        check_near(cost->apps[0].energy_j.value, 2 * (2 + 15), 1e-12);
        check_near(cost->apps[0].percent.value, 34 / 360.0, 1e-12);
        check_near(cost->apps[0].percent_per_minute.value, 34 / 360.0, 1e-12);
        /* t(10) * sqrt((20 s * 10 mW)^2 + (60 s * 5 mW)^2) */
        check_near(cost->apps[0].energy_j.high, 34 + 2.228139 * sqrt(0.04 + 0.09), 1e-5);
        check_near(cost->apps[0].energy_j.low, 34 - 2.228139 * sqrt(0.04 + 0.09), 1e-5);
        check_int(usage_busy_ns(&cost->apps[0].usage), S(20)); /* the priced usage */
        check_int(usage_screen_ns(&cost->apps[0].usage), S(60));
        check_int(cost->apps[1].usage.read_bytes, 1000000);
        check_int(cost->apps[2].usage.have, USAGE_ALL);
        check_int(cost->base_usage.time_ns, S(100));
        check_near(cost->apps[1].energy_j.value, 2 + 0.006 + 0.2, 1e-12);
        check_near(cost->apps[1].component_j[COMPONENT_DISK], 0.006, 1e-12);
        check_near(cost->apps[1].component_j[COMPONENT_DISPLAY], 0, 0);
        check_near(cost->apps[2].energy_j.value, 0, 0);
        check_near(cost->apps[2].active_s, 100, 0);
        check_near(cost->base_j, 10 + 3 + 15, 1e-12);
        check_near(cost->base_idle_j, 10, 1e-12);
        check_near(cost->base_wifi_j, 3, 1e-12);
        check_near(cost->base_display_j, 15, 1e-12);
        check_near(cost->total_j.value, 28 + 34 + 2.206, 1e-12);
        check_near(cost->measured_j.value, 60, 0);
        check_near(cost->measured_percent, 60 / 360.0, 1e-12);
        check_int(cost->n_not_measured, 0);
        sum = cost->base_j + cost->unexplained_j.value; /* -4.206 */
        for (size_t i = 0; i < cost->n_apps; i++)
                sum += cost->apps[i].energy_j.value;
        check_near(sum, cost->measured_j.value, 1e-12);
        check(cost->unexplained_j.value < 0);
}

/*
 * 0.776 steps of 5 J for each end of two stretches, and 1.96 times 1.5 % of the measured energy, less the measured part
 * of the full 36 kJ; unexplained energy has the model's error, too.
 */
/* An app of two users is there for no longer than the machine is awake, in each span and not in all alone. */
static void two_users(const struct profile *profile)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(100) }, nothing = { .have = USAGE_ALL };

        check_int(cost_maker_new(&maker), 0);
        for (int span = 0; maker && span < 2; span++) {
                struct store_row row = { .start_ns = span * 100, .end_ns = span * 100 + 100, .awake_ns = S(100),
                                         .app = "", .name = "", .state = STATE_BACKGROUND, .usage = &nobody };

                check_int(cost_maker_add(maker, &row), 0);
                row.app = row.name = "game";
                row.active_ns = S(60);
                row.usage = &nothing;
                for (row.uid = 1; span == 0 && row.uid <= 2; row.uid++)
                        check_int(cost_maker_add(maker, &row), 0);
        }
        check_int(cost_maker_finish(maker, profile, NULL, &cost), 0);
        if (cost)
                check_near(cost->apps[0].active_s, 100, 0);
}

/* A device that is 20 degrees warmer than in its calibration: 10 % of the CPU's 2 J, and of nothing else. */
static void another_temperature_is_less_certain(void)
{
        _cleanup_(profile_freep) struct profile *exact = parse_exact(text);
        struct store_battery battery = { .last = { .have = BATTERY_TEMPERATURE, .temperature_dc = 450 } };
        _cleanup_(cost_freep) struct cost *unknown = make(exact, &battery, 0), *warm = NULL, *same = NULL,
                                           *learnt = NULL;
        double before_j, t = 2.2281; /* 95 %, 10 degrees of freedom */

        check_int(profile_set_extra(exact, "base", "x-temperature_c", "25"), 0);
        warm = make(exact, &battery, 0);
        battery.last.temperature_dc = 250;
        same = make(exact, &battery, 0);
        before_j = (unknown->apps[1].energy_j.high - unknown->apps[1].energy_j.low) / 2;
        check_near((same->apps[1].energy_j.high - same->apps[1].energy_j.low) / 2, before_j, 1e-12);
        check_near((warm->apps[1].energy_j.high - warm->apps[1].energy_j.low) / 2, hypot(before_j, t * 0.2), 1e-3);
        check_near(warm->apps[1].energy_j.value, unknown->apps[1].energy_j.value, 0);
        check_near(warm->apps[2].energy_j.high, same->apps[2].energy_j.high, 0);
        check(warm->total_j.high > same->total_j.high);
        exact->learned.spans = 50;
        battery.last.temperature_dc = 450;
        learnt = make(exact, &battery, 0);
        exact->learned.spans = NAN;
        check((learnt->apps[1].energy_j.high - learnt->apps[1].energy_j.low) / 2 < before_j + t * 0.1);
}

static void measured_has_an_interval(const struct profile *profile)
{
        struct store_battery battery = { .discharge_uj = 60000000, .known_ns = S(100), .elapsed_ns = S(100),
                                         .stretches = 2,
                                         .last = { .have = BATTERY_ENERGY_NOW },
                                         .step = { .have = BATTERY_ENERGY_NOW, .energy_now_uwh = 5000000 / 3600 } };
        _cleanup_(cost_freep) struct cost *cost = make(profile, &battery, 0);
        _cleanup_(cost_freep) struct cost *alone = make(profile, NULL, 0);
        double curve_j = 0.015 * 60 * (1 - 60.0 / 36000), model_j;
        double half_width_j = sqrt(2 * 0.7764 * 0.7764 * 5 * 5 + 1.96 * 1.96 * curve_j * curve_j);

        if (!cost || !alone)
                return;
        model_j = alone->total_j.high - alone->total_j.value;
        check(cost->total_j.high - cost->total_j.low < alone->total_j.high - alone->total_j.low); /* given the sum */
        check(cost->total_j.low <= cost->total_j.value && cost->total_j.value <= cost->total_j.high);
        check_near(cost->measured_j.high - 60, half_width_j, 0.01);
        check_near(60 - cost->measured_j.low, half_width_j, 0.01);
        check_near(cost->unexplained_j.high - cost->unexplained_j.value, hypot(half_width_j, model_j), 0.01);
        check_near(cost->unexplained_j.value - cost->unexplained_j.low, hypot(half_width_j, model_j), 0.01);
        check(cost->unexplained_j.low < 0); /* unlike all others it may be negative */
}

static void unknown_is_not_zero(const struct profile *profile)
{
        struct store_battery partly = { .discharge_uj = 1000, .known_ns = S(50), .elapsed_ns = S(100) };
        _cleanup_(cost_freep) struct cost *cost = make(profile, NULL, USAGE_DISK);
        _cleanup_(cost_freep) struct cost *plugged = make(profile, &partly, 0);

        if (!cost || !plugged)
                return;
        check(isnan(cost->measured_j.value) && isnan(cost->unexplained_j.value));
        check(isnan(cost->apps[0].component_j[COMPONENT_DISK]));
        check_near(cost->apps[0].energy_j.value, 34, 1e-12); /* the rest is summed */
        check_near(cost->apps[1].component_j[COMPONENT_DISK], 0.006, 1e-12);
        check_int(cost->n_not_measured, 1);
        check_text(cost->n_not_measured ? cost->not_measured[0] : NULL, "disk (not counted)");
        check_near(plugged->measured_j.value, 0.001, 1e-12);
        check(isnan(plugged->unexplained_j.value)); /* the charger gave some of it */
}

static bool is_unknown(const struct cost_value *value)
{
        return isnan(value->value) && isnan(value->low) && isnan(value->high);
}

/* A profile of the base alone: what apps used is unknown, and an app that used nothing still cost nothing. */
static void nothing_known_of_apps(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse("[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\nenergy_full_mwh = 10000\n"
                      "[base]\npower_mw = 100 2\n");
        struct store_battery battery = { .discharge_uj = 60000000, .known_ns = S(100), .elapsed_ns = S(100) };
        _cleanup_(cost_freep) struct cost *cost = profile ? make(profile, &battery, 0) : NULL;

        if (!cost)
                return;
        check_int(cost->n_apps, 3);
        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                if (strcmp(app->app, "quiet") == 0) {
                        check_near(app->energy_j.value, 0, 0);
                        check_near(app->energy_j.high, 0, 0);
                } else {
                        check(is_unknown(&app->energy_j) && is_unknown(&app->percent));
                        check(is_unknown(&app->percent_per_minute));
                        check(isnan(app->component_j[COMPONENT_CPU]));
                }
        }
        check_near(cost->base_j, 10, 1e-12);
        check_near(cost->total_j.value, 10, 1e-12);
        check_near(cost->unexplained_j.value, 50, 1e-12);
}

/* Unattributed energy widens the apps whose energy is known; unknown energy stays unknown. */
static void unattributed_widens_the_known(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse_exact("[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                            "energy_full_mwh = 10000\n"
                            "[base]\npower_mw = 100 2\n[cpu 0]\nactive_mw.400000 = 200 10\nshared_mw.400000 = 0 0\n");
        const struct store_battery battery = { .discharge_uj = 100000000,
                                               .known_ns = S(100),
                                               .elapsed_ns = S(100),
                                               .stretches = 1,
                                               .last = { .have = BATTERY_ENERGY_NOW },
                                               .step = { .have = BATTERY_ENERGY_NOW,
                                                         .energy_now_uwh = 100 } };
        struct point core = { .khz = 400000, .busy_ns = S(10), .any_ns = S(10) };
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(100) },
                     busy = { .have = USAGE_ALL, .cpu = { &core, 1 } };
        struct usage draws = { .have = USAGE_ALL, .gpu_busy_ns = S(10) };
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;

        check_int(cost_maker_new(&maker), 0);
        if (!profile || !maker)
                return;
        add(maker, "", STATE_BACKGROUND, 0, &nobody);
        add(maker, "busy", STATE_FOREGROUND, 10, &busy);
        add(maker, "daemon", STATE_BACKGROUND, 0, &busy); /* was never counted as active: no percent a minute */
        add(maker, "gpu", STATE_FOREGROUND, 10, &draws);
        check_int(cost_maker_finish(maker, profile, &battery, &cost), 0);
        for (size_t i = 0; cost && i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];
                bool known = strcmp(app->app, "gpu") != 0;

                check(known ? app->energy_j.high > 20 : is_unknown(&app->energy_j) && is_unknown(&app->percent));
                check(is_unknown(&app->percent_per_minute) == (strcmp(app->app, "busy") != 0));
        }
        check_int(cost ? cost->n_apps : 0, 3);
}

/* Where the battery and the model contradict each other, both bounds move away, and neither is the value itself. */
static void contradicts(const struct profile *profile)
{
        struct store_battery battery = { .discharge_uj = 600000000, .known_ns = S(100), .elapsed_ns = S(100),
                                         .stretches = 2,
                                         .last = { .have = BATTERY_ENERGY_NOW },
                                         .step = { .have = BATTERY_ENERGY_NOW, .energy_now_uwh = 5000000 / 3600 } };
        _cleanup_(cost_freep) struct cost *cost = make(profile, &battery, 0);

        if (!cost)
                return;
        check(cost->unexplained_j.low > 0);
        check(cost->total_j.low < 0.9 * cost->total_j.value);
        check(cost->total_j.high > 600);
}

/* Without the idle power the base is unknown, and sums contain the apps and unexplained energy. */
static void no_base(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse_exact("[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                            "energy_full_mwh = 10000\n"
                      "[cpu 0]\nactive_mw.400000 = 200 10\nshared_mw.400000 = 0 0\n[display]\npower_mw.100 = 500 5\n"
                      "[wifi]\non_mw = 30 0\n");
        struct store_battery battery = { .discharge_uj = 60000000, .known_ns = S(100), .elapsed_ns = S(100),
                                         .stretches = 2,
                                         .last = { .have = BATTERY_ENERGY_NOW },
                                         .step = { .have = BATTERY_ENERGY_NOW, .energy_now_uwh = 50000000 / 3600 } };
        _cleanup_(cost_freep) struct cost *cost = profile ? make(profile, &battery, 0) : NULL;
        bool named = false;

        if (!cost)
                return;
        check(isnan(cost->base_j) && isnan(cost->base_idle_j));
        check_near(cost->total_j.value, 34 + 2, 1e-12);
        check_near(cost->total_j.high, 36 + 2.228139 * sqrt(0.09 + 0.09), 1e-5); /* no daemons: they are base */
        check_near(cost->total_j.value + cost->unexplained_j.value, cost->measured_j.value, 1e-12);
        for (size_t i = 0; i < cost->n_not_measured; i++)
                named = named || strcmp(cost->not_measured[i], "base") == 0;
        check(named);
}

static void nothing_at_all(const struct profile *profile)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;

        check_int(cost_maker_new(&maker), 0);
        check_int(cost_maker_finish(maker, profile, NULL, &cost), 0);
        if (!cost)
                return;
        check(isnan(cost->base_j));
        check_int(cost->n_apps, 0);
        check_int(cost->from_ns == INT64_MIN, 1);
}

/* Many apps: the table of entries grows, and each keeps its own. */
static void many(const struct profile *profile)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct usage usage = { .have = USAGE_ALL };
        char app[32];

        check_int(cost_maker_new(&maker), 0);
        for (unsigned round = 0; round < 2; round++) {
                for (unsigned i = 0; i < 1000; i++) {
                        snprintf(app, sizeof(app), "app-%u", i);
                        usage.read_bytes = (i + 1) * 1000000;
                        add(maker, app, i % 2 ? STATE_FOREGROUND : STATE_BACKGROUND, 1, &usage);
                }
        }
        check_int(cost_maker_finish(maker, profile, NULL, &cost), 0);
        if (!cost)
                return;
        check_int(cost->n_apps, 1000);
        check_text(cost->apps[0].app, "app-999");
        check_near(cost->apps[0].energy_j.value, 2 * 1000 * 0.006, 1e-9);
        check_near(cost->apps[999].energy_j.value, 2 * 0.006, 1e-12);
}

/* On the first day the power of apps beyond the counters' is unknown. */
static void misfit(void)
{
        _cleanup_(profile_freep) struct profile *usual = parse(text), *exact = parse_exact(text);
        _cleanup_(cost_freep) struct cost *cost = usual ? make(usual, NULL, 0) : NULL;
        _cleanup_(cost_freep) struct cost *told = exact ? make(exact, NULL, 0) : NULL;
        struct point screen = { .brightness = 100, .on_ns = S(60) };
        struct usage lit = { .have = USAGE_ALL, .screen = { &screen, 1 } };
        struct model_vector display = { 0 };
        double front, behind, cpu = TUNING_MISFIT_CPU_PERCENT / 100, panel = TUNING_MISFIT_DISPLAY_PERCENT / 100;

        if (!cost || !told)
                return;
        check_int(model_vector_make(usual, &lit, &display), 0);
        check_near(cost->apps[0].energy_j.value, told->apps[0].energy_j.value, 0);
        /* 4 J of CPU and 30 J of display; 60 s */
        front = sqrt(pow(cpu * 4, 2) + pow(panel * 30, 2) + pow(TUNING_MISFIT_FRONT_MW * 1e-3 * 60, 2));
        check_near(cost->apps[0].energy_j.high, 34 + 2.228139 * sqrt(0.04 + 0.09 + front * front), 1e-5);
        /* 2 J of CPU and 0.2 J of bursts; 60 s behind */
        behind = sqrt(pow(cpu * 2, 2) + pow(TUNING_MISFIT_RADIO_PERCENT / 100 * 0.2, 2) +
                      pow(TUNING_MISFIT_BEHIND_MW * 1e-3 * 60, 2));
        check_near(cost->apps[1].energy_j.high, 2.206 + 2.228139 * sqrt(0.01 + behind * behind), 1e-5);
        /* An app that did nothing used no energy. */
        check_near(cost->apps[2].energy_j.high, 0, 0);
        /* An LCD's power does not depend on its picture. */
        check_int(profile_set_extra(usual, "display", "x-emission_percent", "0"), 0);
        check_near(model_misfit_sd_j(usual, &(struct model_user){ "game", true, 0 }, &display),
                   TUNING_MISFIT_LCD_PERCENT / 100 * 30, 1e-9);
        check_int(profile_set_extra(usual, "display", "x-emission_percent", "70"), 0);
        check(model_misfit_sd_j(usual, &(struct model_user){ "game", true, 0 }, &display) > 0.2 * 30);
        /* A grey picture is also off the line. */
        check_int(profile_set_extra(usual, "display", "x-emission_bend_percent", "40"), 0);
        check(model_misfit_sd_j(usual, &(struct model_user){ "game", true, 0 }, &display) > 0.4 * 30);
        model_vector_clear(&display);
        /* Half of the variance is common to both states. */
        check_near(model_misfit_sum_j2(usual, front + behind, front * front + behind * behind),
                   (front * front + behind * behind + pow(front + behind, 2)) / 2, 1e-9);
        check(cost->total_j.high > told->total_j.high + 2.2 * front);
}

/* Corrections learnt for an app are added to its modelled energy, and have their own error. */
static void learnt_of_an_app(void)
{
        static const char learnt[] = "[app 3]\nid = game\ncpu = 0.5 0.1\ndisplay = -0.2 0\nfront_mw = 100 10\n"
                                     "behind_mw = 0 0\n[learned]\nspans = 100\nmisfit_radio_percent = 0\n";
        char whole[sizeof(text) + sizeof(learnt)];
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;

        snprintf(whole, sizeof(whole), "%s%s", text, learnt);
        profile = parse(whole);
        cost = profile ? make(profile, NULL, 0) : NULL;
        if (!cost)
                return;
        check_near(cost->apps[0].component_j[COMPONENT_CPU], 4 * 1.5, 1e-9);
        check_near(cost->apps[0].component_j[COMPONENT_DISPLAY], 30 * 0.8, 1e-9);
        check_near(cost->apps[0].component_j[COMPONENT_UNSEEN], 6, 1e-9);
        check_near(cost->apps[0].energy_j.value, 36, 1e-9);
        check_near(cost->apps[0].energy_j.high,
                   36 + 2.228139 * sqrt(0.04 + 0.09 + pow(4 * 0.1, 2) + pow(0.6, 2)), 1e-5);
        check_near(cost->apps[1].energy_j.value, 2 * 1.5 + 0.206, 1e-9);
}

/* An app varies within itself, less over a long time, and on other numbers of cores than it was learnt on. */
static void varies(void)
{
        static const char learnt[] = "[app 3]\nid = game\ncpu = 0.5 0\nfront_mw = 0 0\nx-cores = 1\n"
                                     "[learned]\nspans = 100\nwithin_percent = 10\nwithin_tau_s = 60\n"
                                     "background_sd_mw = 3\n";
        const struct model_user game = { "game", true, 60 }, long_game = { "game", true, 6000 };
        struct point cpu = { .khz = 400000, .busy_ns = S(8), .any_ns = S(4) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &cpu, 1 } };
        struct model_vector vector = { 0 };
        char whole[sizeof(text) + sizeof(learnt)];
        _cleanup_(profile_freep) struct profile *profile = NULL;
        double energy_j, within_j, cores_j;

        snprintf(whole, sizeof(whole), "%s%s", text, learnt);
        profile = parse(whole);
        if (!profile)
                return;
        check_near(model_averaged(1e-9, 60), 1, 1e-9);
        check_near(model_averaged(60, 60), 2 / M_E, 1e-9);
        check_near(model_averaged(6e6, 60), 2e-5, 1e-9);
        check_near(model_background_sd_j(profile, 1), 3e-3, 1e-5);
        check_int(model_vector_make(profile, &usage, &vector), 0);
        model_vector_add_user(profile, &game, &vector);
        energy_j = model_energy_mj(profile, &vector) / 1e3;
        check(energy_j > 1);
        within_j = 0.1 * energy_j * sqrt(model_averaged(60, 60));
        cores_j = TUNING_DOUBLING * energy_j;
        check_near(model_busy_cores(&usage), 2, 1e-9);
        check_near(model_within_sd_j(profile, &game, &usage, &vector), hypot(within_j, cores_j), 1e-9);
        check(model_within_sd_j(profile, &long_game, &usage, &vector) < hypot(0.2 * within_j, cores_j));
        cpu.any_ns = cpu.busy_ns; /* one core, as learnt */
        check_near(model_within_sd_j(profile, &game, &usage, &vector), within_j, 1e-9);
        profile->learned.within_percent = NAN;
        check_near(model_within_sd_j(profile, &game, &usage, &vector), 0, 0);
        model_vector_clear(&vector);
}

int main(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse_exact(text);

        if (!profile)
                return 1;
        sums(profile);
        two_users(profile);
        measured_has_an_interval(profile);
        unknown_is_not_zero(profile);
        nothing_known_of_apps();
        unattributed_widens_the_known();
        contradicts(profile);
        no_base();
        nothing_at_all(profile);
        misfit();
        learnt_of_an_app();
        varies();
        many(profile);
        another_temperature_is_less_certain();
        return check_result();
}
