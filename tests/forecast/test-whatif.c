/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gain of a change: compared with a device of known power; its interval; unknown parts; and advice. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "forecast/advice.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))
#define POLL_S 30

static const char text[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
                           "[fit]\ndegrees_of_freedom = 30\nscale_percent = 1\ndiscrepancy_percent = 2\n"
                           "[base]\npower_mw = 300 3\n"
                           "[cpu 0]\nactive_mw.400000 = 500 5\nshared_mw.400000 = 0 0\n"
                           "[display]\nmax_brightness = 200\npower_mw.0 = 0 1\npower_mw.200 = 800 8\n";

static struct profile *profile;
static const struct forecast_battery no_battery;

static struct history *begin(void)
{
        struct history *history = NULL;

        check_int(history_new(profile, &history), 0);
        return history;
}

static void add(struct history *history, int64_t at_s, const char *app, enum app_state state, const struct usage *usage)
{
        struct store_row row = { .start_ns = (int64_t)S(at_s),
                                 .end_ns = (int64_t)S(at_s + POLL_S),
                                 .app = app,
                                 .name = app,
                                 .state = state,
                                 .usage = usage,
                                 .active_ns = *app ? S(POLL_S) : 0 };

        check_int(history_add(history, &row), 0);
}

/* Two hours of a game in front at half brightness (0.4 + 0.4 W) and a mail client behind it (0.1 W); base is 0.3 W. */
static struct history *usual(uint64_t rx_bytes)
{
        struct history *history = begin();

        for (int64_t at_s = 1000000; at_s < 1000000 + 7200; at_s += POLL_S) {
                struct point core = { .khz = 400000, .busy_ns = S(POLL_S * 0.8), .any_ns = S(POLL_S * 0.8) };
                struct point little = { .khz = 400000, .busy_ns = S(POLL_S * 0.2), .any_ns = S(POLL_S * 0.2) };
                struct point screen = { .brightness = 100, .on_ns = S(POLL_S) };
                struct usage nobody = { .have = USAGE_ALL, .time_ns = S(POLL_S) };
                struct usage game = { .have = USAGE_ALL, .cpu = { &core, 1 }, .screen = { &screen, 1 } };
                struct usage mail = { .have = USAGE_ALL, .cpu = { &little, 1 }, .wifi_rx_bytes = rx_bytes };

                add(history, at_s, "", STATE_BACKGROUND, &nobody);
                add(history, at_s, "game", STATE_FOREGROUND, &game);
                add(history, at_s, "mail", STATE_BACKGROUND, &mail);
        }
        check_int(history_finish(history), 0);
        return history;
}

static struct gain gain_of(const struct history *history, struct changes changes)
{
        struct gain gain = { 0 };

        changes.battery_percent = 50;
        check_int(whatif_gain(history, &changes, &no_battery, NULL, &gain), 0);
        return gain;
}

#define NONE (struct changes)CHANGES_NONE

static double minutes_at(double power_w)
{
        return 50 * 360 / (power_w * 1.008) / 60; /* TUNING_WARM */
}

static void known_device(void)
{
        struct history *history = usual(0);
        struct changes dark = NONE, closed = NONE, both = NONE, off = NONE, bright = NONE;
        double before = minutes_at(1.2);
        struct gain gain;

        dark.brightness_percent = 25;
        gain = gain_of(history, dark);
        check_near(gain.minutes.value, before, 0.5);
        check_near(gain.gained.value, minutes_at(1.0) - before, 0.5);
        check_near(gain.changed.value - gain.minutes.value, gain.gained.value, 0.5);
        check(gain.gained.low < gain.gained.value && gain.gained.value < gain.gained.high);
        /* Two futures with the same errors: far less wide than the two together. */
        check(gain.gained.high - gain.gained.low < 0.5 * (gain.changed.high - gain.changed.low));
        check(!gain.nothing && gain.n_apps == 0);

        closed.close[closed.n_close++] = "mail";
        closed.close[closed.n_close++] = "mai";
        gain = gain_of(history, closed);
        check_near(gain.gained.value, minutes_at(1.1) - before, 0.5);
        check_int(gain.n_apps, 1);
        check_text(gain.apps[0], "mail");

        both.close[both.n_close++] = "game"; /* the screen stays on */
        both.brightness_percent = 25;
        check_near(gain_of(history, both).gained.value, minutes_at(0.6) - before, 1);

        off.off = UINT32_C(1) << COMPONENT_DISPLAY;
        check_near(gain_of(history, off).gained.value, minutes_at(0.8) - before, 0.5);

        bright.brightness_percent = 100;
        gain = gain_of(history, bright);
        check_near(gain.gained.value, minutes_at(1.6) - before, 0.5);
        check(gain.gained.high < 0);
        history_free(history);
}

/* Half an hour of a game (1.2 W), half an hour of nothing (0.3 W), and again. */
static struct history *now_and_then(void)
{
        struct history *history = begin();

        for (int64_t at_s = 1000000; at_s < 1000000 + 5 * 3600; at_s += POLL_S) {
                struct point core = { .khz = 400000, .busy_ns = S(POLL_S), .any_ns = S(POLL_S) };
                struct point screen = { .brightness = 100, .on_ns = S(POLL_S) };
                struct usage nobody = { .have = USAGE_ALL, .time_ns = S(POLL_S) };
                struct usage game = { .have = USAGE_ALL, .cpu = { &core, 1 }, .screen = { &screen, 1 } };

                add(history, at_s, "", STATE_BACKGROUND, &nobody);
                if ((at_s - 1000000) / 1800 % 2 == 0)
                        add(history, at_s, "game", STATE_FOREGROUND, &game);
        }
        check_int(history_finish(history), 0);
        return history;
}

/* The battery may end while nothing is done: what a brighter screen took would have lasted at 0.3 W then. */
static void ends_in_a_lull(void)
{
        struct history *history = now_and_then();
        struct changes bright = NONE, dark = NONE;
        struct gain lost, gained;
        double longest;

        bright.brightness_percent = 55;
        lost = gain_of(history, bright);
        longest = fabs(lost.gained.value) * (1.2 + 0.3) / 2 / 0.3;
        check(lost.gained.value < -8 && longest < 30);
        check(lost.gained.low < -longest);
        check(lost.gained.high > lost.gained.value &&
              lost.gained.value - lost.gained.low > lost.gained.high - lost.gained.value);
        check(lost.gained.low > -lost.minutes.value);

        dark.brightness_percent = 45;
        gained = gain_of(history, dark);
        check(gained.gained.high > longest);
        check(gained.gained.high - gained.gained.value > gained.gained.value - gained.gained.low);
        history_free(history);
}

/* The change saves 0.2 W for half an hour; that energy then lasts at 1.2 W. */
static void kept(void)
{
        struct history *history = usual(0);
        struct changes dark = NONE;
        struct gain gain;

        dark.brightness_percent = 25;
        dark.keep_minutes = 30;
        gain = gain_of(history, dark);
        check_near(gain.gained.value, 30 * 0.2 / 1.2, 0.2);
        dark.keep_minutes = 0;
        check_near(gain_of(history, dark).gained.value, 0, 0.01);
        dark.keep_minutes = 1e6;
        check_near(gain_of(history, dark).gained.value, minutes_at(1.0) - minutes_at(1.2), 0.5);
        history_free(history);
}

static void unknown(void)
{
        struct history *history = usual(0), *traffic = usual(100000);
        struct changes wifi = NONE, same = NONE, mail = NONE, dark = NONE, wrong = NONE;
        const char *missing = NULL;
        struct gain gain;

        wifi.off = UINT32_C(1) << COMPONENT_WIFI;
        gain = gain_of(history, wifi);
        check(gain.nothing && gain.gained.value == 0 && gain.gained.low == 0 && gain.gained.high == 0);
        gain = gain_of(traffic, wifi); /* bytes, and no coefficient for them */
        check(!gain.nothing && isnan(gain.gained.value) && isnan(gain.gained.low) && isnan(gain.gained.high));
        check(strstr(gain.basis, "wifi") != NULL);

        mail.close[mail.n_close++] = "mail"; /* its CPU time is priced, its bytes are not */
        gain = gain_of(traffic, mail);
        check(gain.gained.value > 5 && isnan(gain.gained.low) && isnan(gain.gained.high));
        dark.brightness_percent = 25; /* the part without a coefficient makes the gain less */
        gain = gain_of(traffic, dark);
        check(gain.gained.value > 5 && isnan(gain.gained.low) && gain.gained.high > gain.gained.value);

        same.brightness_percent = 50;
        check(gain_of(history, same).nothing);

        wrong.close[wrong.n_close++] = "chess";
        check_int(whatif_gain(history, &wrong, &no_battery, &missing, &gain), -ENODATA);
        check_text(missing, "chess");
        dark.battery_percent = NAN;
        check_int(whatif_gain(history, &dark, &no_battery, NULL, &gain), -ENODEV);
        dark.brightness_percent = 101;
        check_int(whatif_gain(history, &dark, &no_battery, NULL, &gain), -EINVAL);
        dark = NONE;
        dark.off = UINT32_C(1) << COMPONENT_CPU;
        check_int(whatif_gain(history, &dark, &no_battery, NULL, &gain), -EINVAL);
        history_free(history);
        history_free(traffic);
}

static void advice(void)
{
        const struct forecast_battery half = {
                .known = true, .battery = { .have = BATTERY_CAPACITY, .capacity_percent = 50 }
        };
        struct history *history = usual(0);
        struct advice list[ADVICE_MAX];
        ssize_t n = advice_make(history, &half, list);

        check(n >= 1);
        for (ssize_t i = 0; i < n; i++) {
                check(list[i].gain.gained.value >= 1 && list[i].gain.gained.low > 0);
                check(i == 0 || list[i].gain.gained.value <= list[i - 1].gain.gained.value);
                check(list[i].kind != ADVICE_WIFI && list[i].kind != ADVICE_CELLULAR);
                if (list[i].kind == ADVICE_BRIGHTNESS)
                        check_near(list[i].brightness_percent, 25, 0);
        }
        history_free(history);
}

/* Whoever needs much CPU behind the game: running to the end or not. */
static void only_what_runs_is_closed(void)
{
        static const struct {
                const char *app;
                int64_t ends_s; /* time before the end of the record */
                bool closed;
        } cases[] = {
                { "mail", 0, true },           { "mail", POLL_S, false },  { "mail", 600, false },
                { "system", 0, false },        { "sys:cron", 0, false },   { "usr:indexer", 0, false },
                { "ctr:database", 0, false },  { "org.gnome.SystemMonitor", 0, true }, { "systemtap", 0, true },
        };
        const struct forecast_battery half = {
                .known = true, .battery = { .have = BATTERY_CAPACITY, .capacity_percent = 50 }
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct history *history = begin();
                struct whatif *whatif = NULL;
                size_t apps[4], n = 0;
                bool closed = false;

                for (int64_t at_s = 1000000; at_s < 1000000 + 7200; at_s += POLL_S) {
                        struct point core = { .khz = 400000, .busy_ns = S(POLL_S * 0.8), .any_ns = S(POLL_S * 0.8) };
                        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(POLL_S) };
                        struct point screen = { .brightness = 100, .on_ns = S(POLL_S) };
                        struct usage busy = { .have = USAGE_ALL, .cpu = { &core, 1 } };
                        struct usage game = { .have = USAGE_ALL, .screen = { &screen, 1 } };

                        add(history, at_s, "game", STATE_FOREGROUND, &game);
                        add(history, at_s, "", STATE_BACKGROUND, &nobody);
                        if (at_s < 1000000 + 7200 - cases[i].ends_s)
                                add(history, at_s, cases[i].app, STATE_BACKGROUND, &busy);
                }
                check_int(history_finish(history), 0);
                check_int(whatif_new(history, &half, NAN, &whatif), 0);
                check_int(advice_running(history, whatif_mixed(whatif), ARRAY_SIZE(apps), apps, &n), 0);
                for (size_t k = 0; k < n; k++)
                        closed = closed || strcmp(history->apps[apps[k]].app, cases[i].app) == 0;
                check_int(closed, cases[i].closed);
                whatif_freep(&whatif);
                history_free(history);
        }
}

int main(void)
{
        check_int(profile_parse(text, strlen(text), "hand", NULL, &profile), 0);
        known_device();
        ends_in_a_lull();
        kept();
        unknown();
        advice();
        only_what_runs_is_closed();
        profile_free(profile);
        return check_result();
}
