/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/forecast.h"
#include "judge.h"
#include "spread.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

#define FORGOTTEN 0.97 /* factor by which the old score counts less with each new answer */
/*
 * Gain of the logarithm of the width: a miss widens the intervals, and each answer that holds narrows them by the
 * amount that keeps the promised rate of misses, whatever the distribution of errors: adaptive conformal inference
 * (Gibbs and Candes, 2021).
 */
#define WIDTH_GAIN 0.15
#define WIDTH_MAX 4.0

/* Promised rates of misses: costs and forecasts outside their interval, budgets that lasted less than `low`. */
static const double missed[ANSWER_COUNT] = { [ANSWER_COST] = 0.05, [ANSWER_PREDICT] = 0.10, [ANSWER_BUDGET] = 0.05 };

/* Forecasts and budgets are scored for the newest stretches only, as each reads what was recorded before it. */
#define ASKED_MAX 4
/* Least charge of a scored stretch after its first step, percent: below it, the gauge's steps outweigh the answer. */
#define ASKED_PERCENT 2.0

static void add(struct learning *ret, enum answer_kind kind, bool held, bool likely)
{
        struct profile_score *score = &ret->profile->learned.score[kind];

        score->scored = FORGOTTEN * score->scored + 1;
        score->held = FORGOTTEN * score->held + held;
        score->likely = FORGOTTEN * score->likely + likely;
        score->width = fmin(fmax(score->width * exp(WIDTH_GAIN * (!held - missed[kind])), 1), WIDTH_MAX);
        ret->n_scored[kind]++;
        ret->n_held[kind] += held;
        ret->n_likely += likely;
}

static int score_costs(const struct profile *before, const struct design *design, int64_t after_ns,
                       struct learning *ret)
{
        _cleanup_free_ struct judged *list = NULL;
        size_t n;
        int err = judge(before, design, after_ns, &list, &n);

        for (size_t i = 0; !err && i < n; i++)
                add(ret, ANSWER_COST, fabs(list[i].shown_j - list[i].predicted_j) <= list[i].half_width_j, false);
        return err;
}

/* A question asked at the end of one row, and the rows from there to the end of the stretch, which answer it. */
struct asked {
        const struct profile *profile;
        const struct design_row *rows;
        size_t n;
        int64_t at_ns;
        struct history *history;
        struct forecast_battery battery;
};

/* Lists the apps that had the screen, and for how long. -ENODATA: there are more than a question can have. */
static int list_apps(const struct asked *asked, struct budget_reserve *apps, size_t *ret_n, double *other_minutes)
{
        size_t n = 0;

        *other_minutes = 0;
        for (size_t i = 0; i < asked->n; i++) {
                const struct everyday *everyday = asked->rows[i].everyday;

                *other_minutes += asked->rows[i].seconds / 60;
                for (size_t u = 0; u < everyday->n_uses; u++) {
                        const struct everyday_use *use = &everyday->uses[u];
                        size_t a = 0;

                        if (!*use->app || use->state != STATE_FOREGROUND || !(use->active_s > 0))
                                continue;
                        while (a < n && strcmp(apps[a].app, use->app) != 0)
                                a++;
                        if (a == BUDGET_RESERVES_MAX)
                                return -ENODATA;
                        if (a == n)
                                apps[n++] = (struct budget_reserve){ use->app, 0 };
                        apps[a].minutes += use->active_s / 60;
                        *other_minutes -= use->active_s / 60;
                }
        }
        *other_minutes = fmax(*other_minutes, 0);
        *ret_n = n;
        return 0;
}

static int score_forecast(const struct asked *asked, struct learning *ret)
{
        struct budget_reserve apps[BUDGET_RESERVES_MAX];
        double other_minutes, gave_j = 0, seconds = 0, gauge_j;
        struct cost_value said;
        size_t n;
        int err = list_apps(asked, apps, &n, &other_minutes);

        if (!err)
                err = forecast_use(asked->history, apps, n, other_minutes, &asked->battery, &said);
        if (err || isnan(said.high))
                return err;
        for (size_t i = 0; i < asked->n; i++) {
                gave_j += asked->rows[i].energy_j * profile_shown_part(asked->profile);
                seconds += asked->rows[i].seconds;
        }
        /* The steps at both ends were seen late, and some percents of a gauge hold more charge than others. */
        gauge_j = hypot(sqrt(2) * TUNING_STEP_S * gave_j / seconds, TUNING_GAUGE_CURVE_SD * gave_j);
        add(ret, ANSWER_PREDICT,
            fabs(gave_j - said.value) <=
                    hypot(said.high - said.value, quantile_normal(FORECAST_LEVEL) * gauge_j),
            false);
        return 0;
}

/* A budget for the charge that was really used: does it last at least as long as promised? */
static int score_budget(const struct asked *asked, struct learning *ret)
{
        const struct everyday *first = asked->rows[0].everyday, *last = asked->rows[asked->n - 1].everyday;
        struct budget_plan plan = { .battery_percent = fmin(first->level + first->percent / 2, 100),
                                    .keep_percent = fmax(last->level - last->percent / 2, 0) };
        double minutes = (double)(last->end_ns - asked->at_ns) / (60.0 * NS_PER_S);
        struct budget budget;
        int err = forecast_budget(asked->history, &plan, &asked->battery, NULL, &budget);

        if (!err && !isnan(budget.minutes.low))
                add(ret, ANSWER_BUDGET, minutes >= budget.minutes.low, minutes >= budget.minutes.value);
        return err;
}

static int take_battery(void *data, const struct store_poll *poll)
{
        struct forecast_battery *battery = data;

        *battery = (struct forecast_battery){ .known = poll->battery.have != 0, .battery = poll->battery };
        return 0;
}

/* Errors that mean "no answer", as for an app that was never seen, become 0: there is nothing to score. */
static int no_answer(int err)
{
        return err == -ENODATA || err == -ENODEV || err == -EINVAL || err == -EEXIST || err == -ENOENT ? 0 : err;
}

static int ask(struct asked *asked, struct store *store, struct learning *ret)
{
        _cleanup_(history_freep) struct history *history = NULL;
        int err = history_read_until(asked->profile, store, asked->at_ns, &history);

        if (err)
                return no_answer(err);
        asked->history = history;
        err = store_levels(store, asked->at_ns - 1, asked->at_ns, take_battery, &asked->battery);
        if (!err)
                err = no_answer(score_forecast(asked, ret));
        return err ? err : no_answer(score_budget(asked, ret));
}

/* False: it is too short to ask anything. */
static bool find_question(const struct design *design, size_t first, size_t n, int64_t after_ns, struct asked *ret)
{
        double percent = 0;

        while (n > 0 && design->rows[first].everyday->end_ns <= after_ns) {
                first++;
                n--;
        }
        for (size_t i = 1; i < n; i++)
                percent += design->rows[first + i].everyday->percent;
        if (percent < ASKED_PERCENT)
                return false;
        ret->rows = &design->rows[first + 1];
        ret->n = n - 1;
        ret->at_ns = design->rows[first].everyday->end_ns;
        return true;
}

static int score_futures(const struct profile *before, const struct design *design, struct store *store,
                         int64_t after_ns, struct learning *ret)
{
        struct asked list[ASKED_MAX];
        size_t n = 0;
        int err = 0;

        for (size_t first = 0, length; first < design->n; first += length) {
                struct asked asked = { .profile = before };

                length = spread_stretch(design, first);
                if (find_question(design, first, length, after_ns, &asked))
                        list[n++ % ASKED_MAX] = asked;
        }
        for (size_t i = n > ASKED_MAX ? n - ASKED_MAX : 0; i < n && !err; i++)
                err = ask(&list[i % ASKED_MAX], store, ret);
        return err;
}

int score(const struct profile *before, const struct design *design, struct store *store, int64_t after_ns,
          struct learning *ret)
{
        int err;

        for (size_t kind = 0; kind < ANSWER_COUNT; kind++) {
                struct profile_score *score = &ret->profile->learned.score[kind];

                *score = before->learned.score[kind];
                if (isnan(score->scored))
                        *score = (struct profile_score){ .width = 1 };
                score->width = profile_width(ret->profile, kind);
                if (isnan(score->likely))
                        score->likely = 0;
        }
        err = score_costs(before, design, after_ns, ret);
        return err || !store ? err : score_futures(before, design, store, after_ns, ret);
}
