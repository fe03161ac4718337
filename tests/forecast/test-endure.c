/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The fewest changes with which the charge lasts: the search by size, ties, what has no price, what does not
 * suffice.
 */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "forecast/endure.h"
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

static void add(struct history *history, int64_t at_s, const char *app, enum app_state state, const struct usage *usage)
{
        struct store_row row = { .start_ns = (int64_t)S(at_s), .end_ns = (int64_t)S(at_s + POLL_S), .app = app,
                                .name = app,
                                 .state = state, .usage = usage, .active_ns = *app ? S(POLL_S) : 0 };

        check_int(history_add(history, &row), 0);
}

static void add_work(struct history *history, int64_t at_s, const char *app, enum app_state state, double busy,
                     uint64_t rx_bytes)
{
        struct point core = { .khz = 400000, .busy_ns = S(POLL_S * busy), .any_ns = S(POLL_S * busy) };
        struct point screen = { .brightness = 100, .on_ns = S(POLL_S) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &core, 1 }, .wifi_rx_bytes = rx_bytes };

        if (state == STATE_FOREGROUND)
                usage.screen = (__typeof__(usage.screen)){ &screen, 1 };
        add(history, at_s, app, state, &usage);
}

/* Six hours of a game in front at half brightness (0.4 + 0.4 W), and two apps behind it (0.2 W each); base is 0.3 W. */
static struct history *usual(uint64_t rx_bytes)
{
        const struct usage nobody = { .have = USAGE_ALL, .time_ns = S(POLL_S) };
        struct history *history = NULL;

        check_int(history_new(profile, &history), 0);
        for (int64_t at_s = 1000000; at_s < 1000000 + 6 * 3600; at_s += POLL_S) {
                add(history, at_s, "", STATE_BACKGROUND, &nobody);
                add_work(history, at_s, "game", STATE_FOREGROUND, 0.8, 0);
                add_work(history, at_s, "mail", STATE_BACKGROUND, 0.4, rx_bytes);
                add_work(history, at_s, "sync", STATE_BACKGROUND, 0.4, 0);
        }
        check_int(history_finish(history), 0);
        return history;
}

static struct endure_goal goal_of(double minutes)
{
        struct endure_goal goal = ENDURE_GOAL_NONE;

        goal.minutes = minutes;
        goal.battery_percent = 50;
        return goal;
}

static struct endurance find(const struct history *history, struct endure_goal goal)
{
        struct endurance endurance = { 0 };

        check_int(endure_make(history, &goal, &no_battery, NULL, &endurance), 0);
        return endurance;
}

static double low_with(const struct history *history, const struct endure_change *list, size_t n)
{
        struct changes changes = endure_changes(list, n);
        struct whatif *whatif = NULL;
        double low = NAN;

        check_int(whatif_new(history, &no_battery, 50, &whatif), 0);
        check_int(whatif_surely_minutes(whatif, &changes, &low), 0);
        whatif_freep(&whatif);
        return low;
}

static void by_size(void)
{
        struct history *history = usual(0);
        double before = find(history, goal_of(1)).before.low, last = before;
        struct endurance endurance = find(history, goal_of(before - 1));
        size_t sizes[ENDURE_CHANGES_MAX + 1] = { 0 };

        check_int((int)endurance.n, 0);
        check(endurance.short_minutes == 0 && endurance.after.low == endurance.before.low);
        for (double minutes = before + 1; minutes < 4 * before; minutes += before / 40) {
                endurance = find(history, goal_of(minutes));
                if (endurance.short_minutes > 0)
                        break;
                sizes[endurance.n]++;
                check(endurance.after.low >= minutes);
                check_near(low_with(history, endurance.list, endurance.n), endurance.after.low, 1e-6);
                check(endurance.after.low >= last - before / 2);
                last = endurance.after.low;
        }
        check(sizes[0] == 0 && sizes[1] > 0 && sizes[2] > 0);
        check(endurance.short_minutes > 0 && endurance.n > 0);
        check_near(endurance.goal_minutes - endurance.after.low, endurance.short_minutes, 1e-9);
        history_free(history);
}

/* No single change suffices where several are proposed: this tries all single changes. */
static void smallest(void)
{
        struct history *history = usual(0);
        double before = find(history, goal_of(1)).before.low;
        const struct endure_change all[] = {
                { .kind = ENDURE_BRIGHTNESS, .brightness_percent = 40 }, { .kind = ENDURE_BRIGHTNESS,
                                                                          .brightness_percent = 25 },
                { .kind = ENDURE_BRIGHTNESS, .brightness_percent = 15 }, { .kind = ENDURE_LIMIT, .app = "mail" },
                { .kind = ENDURE_LIMIT, .app = "sync" },                 { .kind = ENDURE_CLOSE, .app = "game" },
        };

        for (double minutes = before * 1.02; minutes < 3 * before; minutes *= 1.07) {
                struct endurance endurance = find(history, goal_of(minutes));

                for (size_t i = 0; i < ARRAY_SIZE(all) && endurance.n > 1; i++)
                        check(low_with(history, &all[i], 1) < minutes);
        }
        history_free(history);
}

/* The first of two apps with the same usage is chosen; changes that cost less comfort come before others. */
static void ties(void)
{
        struct history *history = usual(0);
        double before = find(history, goal_of(1)).before.low;
        struct endure_goal goal = goal_of(before + 2);
        struct endurance endurance = find(history, goal), again = find(history, goal);

        check_int((int)endurance.n, 1);
        check_int((int)endurance.list[0].kind, ENDURE_BRIGHTNESS);
        check_near(endurance.list[0].brightness_percent, 40, 1e-9); /* down from 50 */
        check(memcmp(&endurance.list, &again.list, sizeof(again.list)) == 0);
        goal.without[goal.n_without++] = "brightness";
        endurance = find(history, goal);
        check_int((int)endurance.list[0].kind, ENDURE_LIMIT);
        check_text(endurance.list[0].app, "mail");
        goal.without[goal.n_without++] = "limit:mail";
        check_text(find(history, goal).list[0].app, "sync");
        goal.without[goal.n_without++] = "sync";
        endurance = find(history, goal);
        check_int((int)endurance.list[0].kind, ENDURE_CLOSE);
        check_text(endurance.list[0].app, "mail");
        goal.without[goal.n_without++] = "close";
        endurance = find(history, goal);
        check_int((int)endurance.n, 0);
        check(endurance.short_minutes > 0 && endurance.short_minutes < 3);
        history_free(history);
}

/* Freezing concerns the background only: a game that is frozen there runs on in front. */
static void frozen(void)
{
        struct history *history = usual(0);
        const struct endure_change game[] = { { .kind = ENDURE_LIMIT, .app = "game" }, { .kind = ENDURE_CLOSE,
                                                                                        .app = "game" } };
        const struct endure_change mail[] = { { .kind = ENDURE_LIMIT, .app = "mail" }, { .kind = ENDURE_CLOSE,
                                                                                        .app = "mail" } };
        struct changes changes = endure_changes(game, 1);
        struct gain gain;

        changes.battery_percent = 50;
        check_int(whatif_gain(history, &changes, &no_battery, NULL, &gain), 0);
        check(gain.nothing);
        check_near(low_with(history, &mail[0], 1), low_with(history, &mail[1], 1), 1e-6);
        changes = endure_changes(game, 2); /* whoever closes it as well, closes it */
        changes.battery_percent = 50;
        check_int(whatif_gain(history, &changes, &no_battery, NULL, &gain), 0);
        check_int((int)gain.n_apps, 1);
        check(gain.gained.value > 50);
        history_free(history);
}

/* A plan for some hours of the game proposes nothing that the game needs. */
static void of_an_app(void)
{
        struct history *history = usual(0);
        struct endure_goal goal = goal_of(1);
        struct budget_plan plan = { .app = "game", .battery_percent = 50 };
        struct endurance endurance;
        struct budget budget;

        check_int(forecast_budget(history, &plan, &no_battery, NULL, &budget), 0);
        goal.app = "gam";
        goal.minutes = budget.minutes.low + 5;
        endurance = find(history, goal);
        check_text(endurance.app, "game");
        check_near(endurance.before.low, budget.minutes.low, 1e-6);
        check(endurance.n > 0 && endurance.short_minutes == 0);
        goal.minutes = 4 * budget.minutes.high;
        endurance = find(history, goal);
        check(endurance.short_minutes > 0 && endurance.n >= 3);
        for (size_t i = 0; i < endurance.n; i++)
                check(strcmp(endurance.list[i].app, "game") != 0);
        /* 1.5 W - 0.2 - 0.2 - 0.25 */
        check_near(endurance.after.value, 50 * 360 / ((1.5 - 0.4 - 0.28) * 1.008) / 60, 15);
        history_free(history);
}

/* "What has no price gets no minutes": bytes over WiFi have none here. */
static void unpriced(void)
{
        struct history *history = usual(100000);
        struct endurance endurance = find(history, goal_of(1000));

        for (size_t i = 0; i < endurance.n; i++)
                check(endurance.list[i].kind != ENDURE_WIFI && strcmp(endurance.list[i].app, "mail") != 0);
        check(isnan(endurance.after.low) && isnan(endurance.short_minutes));
        history_free(history);
}

static void wrong(void)
{
        struct history *history = usual(0);
        struct endure_goal goal = goal_of(60);
        struct endurance endurance;
        const char *missing = NULL;

        goal.app = "chess";
        check_int(endure_make(history, &goal, &no_battery, &missing, &endurance), -ENODATA);
        check_text(missing, "chess");
        goal = goal_of(1e5);
        goal.without[goal.n_without++] = "limit:chess";
        check_int(endure_make(history, &goal, &no_battery, &missing, &endurance), -ENODATA);
        check_text(missing, "chess");
        goal = goal_of(0);
        check_int(endure_make(history, &goal, &no_battery, &missing, &endurance), -EINVAL);
        goal = goal_of(NAN);
        check_int(endure_make(history, &goal, &no_battery, &missing, &endurance), -EINVAL);
        goal = goal_of(60);
        goal.battery_percent = NAN;
        check_int(endure_make(history, &goal, &no_battery, &missing, &endurance), -ENODEV);
        history_free(history);
}

int main(void)
{
        check_int(profile_parse(text, strlen(text), "hand", NULL, &profile), 0);
        by_size();
        smallest();
        ties();
        frozen();
        of_an_app();
        unpriced();
        wrong();
        profile_free(profile);
        return check_result();
}
