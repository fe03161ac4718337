/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An unknown property of a device widens each kind of answer: costs, forecasts and budgets of one use, with
 * everything known and with one thing unknown.
 */

#include <stdlib.h>

#include "check.h"
#include "forecast/forecast.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))
#define POLL_S 30
#define SESSIONS 4
#define PERCENT_J 360.0 /* energy of 1 % of 10 Wh */

#define HEAD "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
#define FIT "[fit]\ndegrees_of_freedom = 30\nscale_percent = 1\n"
#define NUMBERS "[base]\npower_mw = 100 1\nx-background_sd_mw = 2\n" \
                "[cpu 0]\nactive_mw.400000 = 500 5\nactive_mw.800000 = 900 5\nshared_mw.400000 = 0 0\n" \
                "shared_mw.800000 = 0 0\n"
#define DISPLAY "[display]\nmax_brightness = 255\npower_mw.100 = 400 4\n"
#define LCD "x-emission_percent = 0\n"
/* No misfit, as for apps seen often enough: they draw exactly what the counters explain. */
#define EXACT \
        "[learned]\nspans = 1\nmisfit_cpu_percent = 0\nmisfit_radio_percent = 0\nmisfit_front_mw = 0\n" \
        "misfit_behind_mw = 0\n"
#define SEEN "misfit_display_percent = 0\n"
#define PLAIN HEAD FIT NUMBERS DISPLAY EXACT SEEN

enum answer {
        COST_TOTAL,
        COST_APP,
        PREDICT,
        PREDICT_DEVICE,
        BUDGET,
        ANSWERS
};

static const char *const answer_names[ANSWERS] = {
        "cost of the total", "cost of the app", "predict", "predict, device", "budget"
};

                /* Half widths as parts of the value; NaN: that end is unknown. */
                struct widths {
                        double of[ANSWERS];
};

struct use {
        const char *profile;
        bool battery;         /* the battery's discharge is known */
        double unseen_w;      /* power that no counter explains, in every second session */
        uint32_t khz;
        bool gpu;             /* the GPU is used, and has no coefficient */
};

struct night {
        struct history *history;
        struct cost_maker *maker;
        struct store_battery gave;
        uint64_t ns;
        double given_j;       /* since the last percent */
};

static void add(struct night *night, const char *app, const struct usage *usage)
{
        struct store_row row = { .start_ns = (int64_t)night->ns, .end_ns = (int64_t)(night->ns + S(POLL_S)), .app = app,
                                 .name = app, .state = *app ? STATE_FOREGROUND : STATE_BACKGROUND, .usage = usage,
                                 .active_ns = *app ? S(POLL_S) : 0 };

        check_int(history_add(night->history, &row), 0);
        check_int(cost_maker_add(night->maker, &row), 0);
}

static void pass(struct night *night, const struct use *use, bool plays, double unseen_w)
{
        struct point core = { .khz = use->khz, .busy_ns = S(POLL_S / 2), .any_ns = S(POLL_S / 2) };
        struct point screen = { .brightness = 100, .on_ns = S(POLL_S) };
        struct usage nobody = { .have = USAGE_ALL, .time_ns = S(POLL_S) };
        struct usage game = { .have = USAGE_ALL, .cpu = { &core, 1 }, .screen = { &screen, 1 },
                              .gpu_busy_ns = use->gpu ? S(POLL_S) : 0 };
        struct store_poll level = { .start_ns = (int64_t)night->ns, .end_ns = (int64_t)(night->ns + S(POLL_S)) };
        double gave_j = POLL_S * (0.1 + (plays ? 0.65 + unseen_w : 0));

        night->given_j += gave_j;
        night->gave.discharge_uj += (uint64_t)(gave_j * 1e6);
        night->gave.known_ns = night->gave.elapsed_ns += S(POLL_S);
        if (night->given_j >= PERCENT_J) {
                level.discharge_j = PERCENT_J;
                night->given_j -= PERCENT_J;
        }
        if (use->battery)
                check_int(history_add_level(night->history, &level), 0);
        add(night, "", &nobody);
        if (plays)
                add(night, "game", &game);
        night->ns += S(POLL_S);
}

static double width(const struct cost_value *value)
{
        return (value->high - value->value) / value->value;
}

static void answer(const struct profile *profile, const struct night *night, bool battery, struct widths *ret)
{
        static const struct forecast_battery unknown;
        struct budget_plan plan = { .app = "game", .battery_percent = 20 };
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct forecast forecast;
        struct budget budget;

        check_int(cost_maker_finish(night->maker, profile, battery ? &night->gave : NULL, &cost), 0);
        check_int(history_finish(night->history), 0);
        check_int(forecast_app(night->history, "game", 60, &unknown, &forecast), 0);
        check_int(forecast_budget(night->history, &plan, &unknown, NULL, &budget), 0);
        if (!cost)
                return;
        check_int(cost->n_apps, 1);
        ret->of[COST_TOTAL] = width(&cost->total_j);
        ret->of[COST_APP] = width(&cost->apps[0].energy_j);
        ret->of[PREDICT] = width(&forecast.energy_j);
        ret->of[PREDICT_DEVICE] = width(&forecast.device_percent);
        ret->of[BUDGET] = 1 - budget.minutes.low / budget.minutes.value;
}

static struct widths widths(const struct use *use)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct night night = { .gave = { .stretches = 1, .last = { .have = BATTERY_ENERGY_NOW },
                                         .step = { .have = BATTERY_ENERGY_NOW, .energy_now_uwh = 100000 } } };
        struct widths ret = { 0 };

        check_int(profile_parse(use->profile, strlen(use->profile), "hand", NULL, &profile), 0);
        if (!profile)
                return ret;
        check_int(history_new(profile, &night.history), 0);
        check_int(cost_maker_new(&night.maker), 0);
        for (int i = 0; i < SESSIONS; i++)
                for (int poll = 0; poll < 80; poll++)
                        pass(&night, use, poll < 40, i % 2 ? use->unseen_w : 0);
        answer(profile, &night, use->battery, &ret);
        history_free(night.history);
        cost_maker_free(night.maker);
        return ret;
}

/* Every answer of @unknown is more than @times as wide as that of @known. */
static void check_wider(const char *what, const struct use *known, const struct use *unknown, double times)
{
        struct widths narrow = widths(known), wide = widths(unknown);

        for (size_t i = 0; i < ANSWERS; i++) {
                if (narrow.of[i] > 0 && wide.of[i] > times * narrow.of[i])
                        continue;
                fprintf(stderr, "%s: %s has +- %.2f %%, and +- %.2f %% where everything is known\n", what,
                        answer_names[i], 100 * wide.of[i], 100 * narrow.of[i]);
                check(!"wider");
        }
}

int main(void)
{
        const struct use plain = { .profile = PLAIN, .khz = 400000 },
                         measured = { .profile = PLAIN, .khz = 400000, .battery = true };
        struct use other = plain;
        struct widths some, more;

        other.profile = HEAD FIT "misfit_percent = 20\n" NUMBERS DISPLAY EXACT SEEN;
        check_wider("a failed validation", &plain, &other, 1.5);

        other = measured;
        other.profile = HEAD FIT "misfit_percent = 20\n" NUMBERS DISPLAY EXACT SEEN;
        check_wider("a failed validation, with what the battery gave", &measured, &other, 1.01);
        some = widths(&other);
        other.battery = false;
        more = widths(&other);
        check(some.of[PREDICT] < 0.4 * more.of[PREDICT]); /* the discharge shows the size of the error */

        other = measured;
        other.unseen_w = 0.3;
        check_wider("energy that nothing explains", &measured, &other, 1.02);

        other = plain;
        other.profile = HEAD FIT NUMBERS DISPLAY "x-emission_percent = 70\n" EXACT;
        some = widths(&(struct use){ .profile = HEAD FIT NUMBERS DISPLAY LCD EXACT, .khz = 400000 });
        check(some.of[COST_APP] > 0);
        check_wider("a picture that may be dark",
                    &(struct use){ .profile = HEAD FIT NUMBERS DISPLAY LCD EXACT, .khz = 400000 }, &other,
                    1.3);
        other.profile = HEAD FIT NUMBERS DISPLAY EXACT;
        check_wider("a panel that nobody looked at",
                    &(struct use){ .profile = HEAD FIT NUMBERS DISPLAY LCD EXACT, .khz = 400000 }, &other,
                    1.3);

        other = plain;
        other.profile = HEAD FIT NUMBERS DISPLAY;
        check_wider("an app that nothing was learnt of", &plain, &other, 1.5);

        other = plain;
        other.khz = KHZ_UNKNOWN;
        check_wider("frequencies that are not known", &plain, &other, 1.5);

        other = plain;
        other.profile = HEAD FIT NUMBERS DISPLAY EXACT SEEN "width = 2\npredict_width = 2\nbudget_width = 2\n";
        check_wider("answers that did not hold", &plain, &other, 1.8);

        /* A component without a coefficient draws more power: no upper end, and no sure minutes. */
        other = plain;
        other.gpu = true;
        more = widths(&other);
        check(isnan(more.of[PREDICT]) && isnan(more.of[PREDICT_DEVICE]) && isnan(more.of[BUDGET]));
        /* A cost is bounded by the battery's discharge; all that may be the GPU's, or due to something not counted. */
        other = measured;
        other.gpu = true;
        other.unseen_w = 0.3;
        some = widths(&measured);
        more = widths(&other);
        check(more.of[COST_TOTAL] > 1.3 * some.of[COST_TOTAL]);
        check(more.of[COST_APP] > 1.3 * some.of[COST_APP]);
        return check_result();
}
