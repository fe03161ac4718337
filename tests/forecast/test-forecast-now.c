/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Forecasts follow what happened lately: recent sessions, what the battery gave, the brightness, the charger. */

#include <stdlib.h>

#include "check.h"
#include "forecast/charging.h"
#include "forecast/forecast.h"
#include "forecast/mixed.h"
#include "forecast/rate.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))
#define POLL_S 30
#define PERCENT_J 360.0 /* energy of 1 % of 10 Wh */

static const char text[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
                           "[fit]\ndegrees_of_freedom = 30\nscale_percent = 1\n"
                           "[base]\npower_mw = 100 1\nx-background_sd_mw = 2\n"
                           "[cpu 0]\nactive_mw.400000 = 500 5\nshared_mw.400000 = 0 0\n"
                           "[display]\nmax_brightness = 255\npower_mw.100 = 400 4\npower_mw.200 = 800 8\n";

/* A simulated device: its history, and its gauge in steps of one percent. */
struct device {
        struct history *history;
        uint64_t ns;
        double given_j; /* since the last step */
        double unseen_w;
        uint32_t given_percent;
};

#define MOST_PERCENT 10000 /* initial charge of a test's battery */

static void add(struct device *device, uint64_t ns, const char *app, const struct usage *usage)
{
        struct store_row row = { .start_ns = (int64_t)device->ns, .end_ns = (int64_t)(device->ns + ns), .app = app,
                                 .name = app, .state = *app ? STATE_FOREGROUND : STATE_BACKGROUND, .usage = usage,
                                 .active_ns = *app ? ns : 0 };

        check_int(history_add(device->history, &row), 0);
}

/* Adds one interval in which @app has the screen ("": none, screen off) and keeps a core busy. */
static void pass(struct device *device, double seconds, const char *app, double busy, uint32_t brightness)
{
        struct point core = { .khz = 400000, .busy_ns = S(seconds * busy), .any_ns = S(seconds * busy) };
        struct point screen = { .brightness = brightness, .on_ns = S(seconds) };
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(seconds) };
        struct usage used = { .have = USAGE_ALL, .cpu = { &core, 1 }, .screen = { &screen, 1 } };
        struct store_poll level = { .start_ns = (int64_t)device->ns, .end_ns = (int64_t)(device->ns + S(seconds)) };

        device->given_j += seconds * (0.1 + (*app ? 0.5 * busy + 0.004 * brightness + device->unseen_w : 0));
        if (device->given_j >= PERCENT_J) {
                level.discharge_j = PERCENT_J;
                level.discharge_percent = 1;
                device->given_j -= PERCENT_J;
                device->given_percent++;
        }
        level.battery = (struct battery){ .have = BATTERY_CAPACITY,
                                          .capacity_percent = MOST_PERCENT - device->given_percent };
        check_int(history_add_level(device->history, &level), 0);
        add(device, S(seconds), "", &nobody);
        if (*app)
                add(device, S(seconds), app, &used);
        device->ns += S(seconds);
}

static void session(struct device *device, double minutes, const char *app, double busy, uint32_t brightness)
{
        for (int i = 0; i < minutes * 60 / POLL_S; i++)
                pass(device, POLL_S, app, busy, brightness);
}

static struct profile *profile;
static const struct forecast_battery unknown_battery;

static struct device begin(void)
{
        struct device device = { 0 };

        check_int(history_new(profile, &device.history), 0);
        return device;
}

static struct forecast forecast_of(const struct device *device, double minutes, const struct forecast_battery *battery)
{
        struct forecast forecast = { 0 };

        check_int(forecast_app(device->history, "game", minutes, battery, &forecast), 0);
        return forecast;
}

static double budget_of(const struct device *device, const char *app)
{
        struct budget_plan plan = { .app = app, .battery_percent = 20 };
        struct budget budget = { 0 };

        check_int(forecast_budget(device->history, &plan, &unknown_battery, NULL, &budget), 0);
        check(budget.minutes.low < budget.minutes.value && budget.minutes.value < budget.minutes.high);
        check_text(budget.app, app ? app : "");
        return budget.minutes.value;
}

/* An update of the game: four sessions at 0.65 W before, and three at 0.85 W since. */
static void recent_sessions(void)
{
        struct device device = begin();
        struct forecast forecast;

        for (int i = 0; i < 7; i++) {
                session(&device, 10, "game", i < 4 ? 0.5 : 0.9, 100);
                session(&device, 20, "", 0, 0);
        }
        check_int(history_finish(device.history), 0);
        forecast = forecast_of(&device, 60, &unknown_battery);
        check(forecast.energy_j.value > 3600 * 0.79 && forecast.energy_j.value < 3600 * 0.85); /* the mean is 0.74 */
        check(forecast.energy_j.high > 3600 * 0.85);
        history_free(device.history);
}

/* One session of a game does not show how sessions differ; those of other apps do. */
static void seen_once(void)
{
        double sd_w[2];

        for (int others = 0; others < 2; others++) {
                struct device device = begin();
                struct rate rate = { 0 };

                for (int i = 0; i < 6 && others; i++) {
                        session(&device, 10, "browser", i % 2 ? 0.9 : 0.2, 100);
                        session(&device, 20, "", 0, 0);
                }
                session(&device, 10, "game", 0.5, 100);
                check_int(history_finish(device.history), 0);
                check_int(rate_of_app(device.history, (size_t)history_find(device.history, "game"), STATE_FOREGROUND,
                                      &rate), 0);
                sd_w[others] = rate.session_sd_w / rate.power_w;
                rate_clear(&rate);
                history_free(device.history);
        }
        check(sd_w[0] < 0.05);
        check(sd_w[1] > 0.12 && sd_w[1] < 0.35);
}

/* A forecast uses the current brightness: the one that was read, or the last recorded one. */
static void brightness_now(void)
{
        struct forecast_battery now = { .screen_known = true, .brightness = 200 };
        struct device device = begin(), after = begin();
        struct forecast before, bright, dark;

        session(&device, 60, "game", 0.5, 100);
        check_int(history_finish(device.history), 0);
        check_int((int)device.history->brightness, 100);
        before = forecast_of(&device, 60, &unknown_battery);
        check_near(before.energy_j.value, 3600 * 0.65, 20);
        bright = forecast_of(&device, 60, &now);
        check_near(bright.energy_j.value, before.energy_j.value + 3600 * 0.4, 20);
        history_free(device.history);

        session(&after, 60, "game", 0.5, 200);
        session(&after, 5, "terminal", 0.1, 100);
        check_int(history_finish(after.history), 0);
        dark = forecast_of(&after, 60, &unknown_battery);
        check_near(dark.energy_j.value, 3600 * 0.65, 30);
        /* It may go back. */
        check(dark.energy_j.high - dark.energy_j.value > 1.5 * (before.energy_j.high - before.energy_j.value));
        history_free(after.history);
}

/*
 * A game draws 0.3 W that no counter shows. The battery gave it, so a budget counts it; one that gave no more changes
 * little.
 */
static void what_the_battery_gave(void)
{
        for (int unseen = 0; unseen < 2; unseen++) {
                struct device device = begin();
                double power_w = 0.1 + 0.5 * 0.5 + 0.4 + 0.3 * unseen;

                for (int i = 0; i < 6; i++) {
                        device.unseen_w = 0.3 * unseen;
                        session(&device, 20, "game", 0.5, 100);
                        session(&device, 20, "", 0, 0);
                }
                check_int(history_finish(device.history), 0);
                check(device.history->n_spans > 10);
                check_near(budget_of(&device, "game"), 20 * PERCENT_J / power_w / 60, unseen ? 10 : 4);
                history_free(device.history);
        }
}

/* A machine that was off comes back at another level: usage since the last step belongs to no percent. */
static void off_between(void)
{
        struct device device = begin();

        for (int i = 0; i < 6; i++) {
                session(&device, 40, "game", 0.5, 100);
                device.given_percent += 5;
                device.given_j = 0;
        }
        check_int(history_finish(device.history), 0);
        check(device.history->n_spans > 10);
        for (size_t i = 0; i < device.history->n_spans; i++)
                check_near(device.history->spans[i].model_j, device.history->spans[i].measured_j, 0.1 * PERCENT_J);
        history_free(device.history);
}

/*
 * A game always draws 0.3 W that no counter shows. Long sessions showed it; short ones since, which carry little
 * information, do not reduce it.
 */
static void what_an_app_always_draws(void)
{
        struct device device = begin();

        for (int i = 0; i < 12; i++) {
                device.unseen_w = 0.3;
                session(&device, i < 6 ? 25 : 5, "game", 0.5, 100);
                device.unseen_w = 0;
                session(&device, i < 6 ? 5 : 25, "browser", 0.9, 100);
        }
        check_int(history_finish(device.history), 0);
        check_near(budget_of(&device, "game"), 20 * PERCENT_J / (0.1 + 0.5 * 0.5 + 0.4 + 0.3) / 60, 1.5);
        history_free(device.history);
}

/* Current use; a night's sleep is none, and right after it the usual use counts. */
static void mixed_use(void)
{
        struct device device = begin();
        struct usage asleep = { .have = USAGE_ALL, .time_ns = S(10), .suspend_ns = S(8 * 3600) };

        session(&device, 120, "game", 0.5, 100);
        session(&device, 20, "", 0, 0);
        session(&device, 120, "game", 0.5, 100);
        add(&device, S(8 * 3600 + 10), "", &asleep);
        device.ns += S(8 * 3600 + 10);
        pass(&device, POLL_S, "", 0, 0);
        check_int(history_finish(device.history), 0);
        check_near(budget_of(&device, NULL), 20 * PERCENT_J / 0.70 / 60, 15); /* 0.75 W, but for the pause */
        history_free(device.history);
}

/* The device is not used at night, and busy in the evening. */
static void by_hour_of_day(void)
{
        struct device device = begin();
        struct mixed mixed = { 0 };
        double now_s, evening_s, night_s;

        for (int hour = 0; hour < 5 * 24 + 18; hour++)
                pass(&device, 3600, hour % 24 >= 18 && hour % 24 < 22 ? "game" : "", 0.5, 100);
        check_int(history_finish(device.history), 0);
        check_int(mixed_make(device.history, &mixed), 0);
        check(mixed.hours[19] > 2 * mixed.hours[4] && mixed.hours[4] < 1);
        mixed_seconds(&mixed, 4 * 3600, &now_s, &evening_s);
        mixed_seconds(&mixed, 12 * 3600, &now_s, &night_s);
        check(evening_s > 1.5 * (night_s - evening_s) / 2);
        mixed_clear(&mixed);
        history_free(device.history);
}

/* Minutes on the charger, in which the level goes from one percent to another. */
static struct history *plugged(double minutes, uint32_t from, uint32_t to, struct forecast_battery *battery)
{
        struct device device = begin();
        int polls = (int)(minutes * 60 / POLL_S);

        for (int i = 0; i <= polls && polls > 0; i++) {
                struct store_poll level = { .start_ns = (int64_t)S(POLL_S * i), .end_ns = (int64_t)S(POLL_S * (i + 1)),
                                            .discharge_j = NAN, .discharge_percent = NAN,
                                            .battery = battery->battery };

                level.battery.capacity_percent = (uint32_t)((int)from + ((int)to - (int)from) * i / polls);
                check_int(history_add_level(device.history, &level), 0);
        }
        pass(&device, POLL_S, "game", 0.5, 100);
        device.history->n_levels--; /* pass() added a level without a charger */
        check_int(history_finish(device.history), 0);
        battery->battery.capacity_percent = to;
        return device.history;
}

static void on_the_charger(void)
{
        static const struct {
                enum battery_status status;
                double minutes;
                uint32_t from, to, watt;
                bool charging, too_weak;
                double full; /* minutes; NaN */
                struct charge_limit limit;
                bool held;
        } cases[] = {
                { BATTERY_CHARGING, 20, 50, 60, 0, true, false, (19.5 + 51.2) / 0.5 },
                { BATTERY_CHARGING, 0, 60, 60, 12, true, false, (19.5 + 51.2) / (60 * 12 / PERCENT_J) },
                { BATTERY_CHARGING, 0, 60, 60, 0, true, false, NAN },
                { BATTERY_CHARGING, 30, 60, 56, 0, true, true, NAN },
                { BATTERY_NOT_CHARGING, 30, 80, 80, 0, false, false, NAN },
                { BATTERY_NOT_CHARGING, 30, 80, 76, 0, false, true, NAN },
                { BATTERY_FULL, 30, 100, 100, 0, false, false, 0 },
                { BATTERY_FULL, 30, 100, 99, 0, false, false, 0 }, /* some rest there */
                { BATTERY_DISCHARGING, 30, 60, 56, 0, false, false, NAN },
                { BATTERY_CHARGING, 20, 50, 60, 0, true, false, 19.5 / 0.5, { 80, 75 } },
                { BATTERY_CHARGING, 20, 50, 60, 0, true, false, (19.5 + 51.2) / 0.5, { 0, 0 } },
                { BATTERY_CHARGING, 20, 80, 85, 0, true, false, 44.85 / (4.64 / 16), { 80, 75 } }, /* it is not kept */
                { BATTERY_NOT_CHARGING, 30, 80, 80, 0, false, false, NAN, { 80, 75 }, true },
                { BATTERY_NOT_CHARGING, 30, 80, 76, 0, false, false, NAN, { 80, 75 }, true }, /* no weak charger */
                { BATTERY_NOT_CHARGING, 30, 80, 76, 0, false, false, NAN, { 80, 0 }, true },
                { BATTERY_NOT_CHARGING, 30, 78, 74, 0, false, true, NAN, { 80, 75 }, false },
                { BATTERY_FULL, 30, 80, 80, 0, false, false, NAN, { 80, 0 }, true },
                { BATTERY_FULL, 30, 100, 100, 0, false, false, 0, { 80, 0 }, false },
                { BATTERY_DISCHARGING, 30, 80, 78, 0, false, false, NAN, { 80, 75 }, false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct forecast_battery battery = { .known = true, .live = true, .battery.have = BATTERY_CAPACITY,
                                                    .battery.status = cases[i].status, .limit = cases[i].limit };
                struct budget_charging charging;
                struct history *history = plugged(cases[i].minutes, cases[i].from, cases[i].to, &battery);

                battery.battery.have |= cases[i].watt ? BATTERY_POWER : 0;
                battery.battery.power_uw = cases[i].watt * UINT64_C(1000000);
                charging_of(history, &battery, PERCENT_J, &charging);
                check_int(charging.charging, cases[i].charging);
                check_int(charging.too_weak, cases[i].too_weak);
                check_int(charging.held, cases[i].held);
                if (isnan(cases[i].full))
                        check(isnan(charging.minutes_to_full.value));
                else
                        check_near(charging.minutes_to_full.value, cases[i].full, 0.04 * cases[i].full);
                check(isnan(cases[i].full) || charging.minutes_to_full.low <= charging.minutes_to_full.value);
                history_free(history);
        }
}

int main(void)
{
        setenv("TZ", "UTC", 1);
        check_int(profile_parse(text, strlen(text), "hand", NULL, &profile), 0);
        if (!profile)
                return 1;
        recent_sessions();
        seen_once();
        brightness_now();
        what_the_battery_gave();
        off_between();
        what_an_app_always_draws();
        mixed_use();
        by_hour_of_day();
        on_the_charger();
        profile_free(profile);
        return check_result();
}
