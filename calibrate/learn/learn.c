/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "fitted.h"
#include "forecast/forecast.h"
#include "judge.h"
#include "spread.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"

void learn_clear(struct learning *learning)
{
        profile_free(learning->profile);
        *learning = (struct learning){ 0 };
}

static int64_t time_of(const char *text)
{
        int64_t time_ns;

        return text && utc_parse(text, &time_ns) == 0 ? time_ns : INT64_MIN;
}

/* The end of the observations that the profile before was learnt from. */
static int64_t until_ns(const struct profile *profile)
{
        int64_t time_ns = time_of(profile->learned.until);

        return time_ns == INT64_MIN ? time_ns : time_ns + (int64_t)NS_PER_S;
}

/* Notes the scatter of shown percents in the profile, for readers who wonder why intervals are wide. */
static int note_unequal(struct profile *profile, const struct design *design)
{
        char text[32];

        if (design->metered)
                return 0;
        snprintf(text, sizeof(text), "%.3g", 100 * design->unequal);
        return profile_set_extra(profile, "profile", "x-percent_scatter", text);
}

/* One fit and its profile. */
static int fit_profile(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                       const struct known_changes *known, struct design *design, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct fitted fitted;
        struct full_charge full;
        int err = fitted_make(prior, list, n, known, &fitted);

        if (err)
                return err;
        overlay_full_charge(prior, list, n, &full);
        err = overlay_make(before, &fitted.design, &fitted.posterior, &full, &profile);
        if (!err)
                err = note_unequal(profile, &fitted.design);
        posterior_clear(&fitted.posterior);
        if (err) {
                design_clear(&fitted.design);
                return err;
        }
        *design = fitted.design;
        *ret = TAKE_PTR(profile);
        return 0;
}

/* Part of the stretches that is held out, number of folds, and number of stretches needed for holding out. */
#define HELD_OUT 0.2
#define FOLDS 2 /* where a component changed; else 1 */
#define STRETCHES_MIN 5

/* The new profile is refused if its log likelihood of the held-out stretches is lower by more than this. */
#define CLEARLY_WORSE 3.0

static size_t count_folds(const struct design *all)
{
        for (size_t c = 0; c < all->n_changes; c++)
                if (all->changes[c].app == SIZE_MAX)
                        return FOLDS;
        return 1;
}

static bool is_left_out(const struct design *all, size_t stretch, size_t first, size_t fold)
{
        return stretch >= first && (stretch - first) % count_folds(all) == fold;
}

/* Copies the observations to @ret, without the stretches that @fold holds out. Returns their number. */
static size_t leave_out(const struct design *all, const struct everyday *list, size_t n, size_t first, size_t fold,
                        struct everyday *ret)
{
        size_t n_left = 0, row = 0;

        for (size_t i = 0; i < n; i++) {
                size_t stretch;

                while (row + 1 < all->n && all->rows[row].everyday < &list[i])
                        row++;
                stretch = all->rows[row].stretch;
                if (!is_left_out(all, stretch, first, fold))
                        ret[n_left++] = list[i];
        }
        return n_left;
}

/* The times of changes of components come from all rows, their amounts do not. Renumbers the stretches. */
static struct known_changes changes_left(const struct design *all, size_t first, size_t fold)
{
        struct known_changes known = { .n = 0, .unequal = all->unequal };

        for (size_t c = 0; c < all->n_changes; c++) {
                struct design_change *change = &known.list[known.n];

                if (all->changes[c].app != SIZE_MAX)
                        continue;
                *change = all->changes[c];
                for (size_t s = first; s < all->changes[c].stretch; s++)
                        change->stretch -= is_left_out(all, s, first, fold);
                known.n++;
        }
        return known;
}

/*
 * A learnt profile describes the days since the last change of a component, not those before, and a few days are not
 * enough to know it well. The profile in use was learnt from some of the stretches, so on those it is better than
 * any profile that was not.
 */
static bool can_judge(const struct profile *before, const struct design *all, const struct design_row *last)
{
        for (size_t c = 0; c < all->n_changes; c++)
                if (all->changes[c].app == SIZE_MAX &&
                    (last->stretch < all->changes[c].stretch || all->changes[c].n_after < CHANGE_STRETCHES ||
                     last->everyday->end_ns <= until_ns(before)))
                        return false;
        return true;
}

/* Adds to ret->better how much likelier a fold's stretches are by the profile learnt from the others (logarithm). */
static int judge_fold(const struct profile *before, const struct profile *learnt, const struct design *all,
                      size_t first, size_t fold, struct learning *ret)
{
        for (size_t i = 0, length; i < all->n; i += length) {
                size_t stretch = all->rows[i].stretch;
                struct judged old, new;
                int err;

                length = spread_stretch(all, i);
                if (!is_left_out(all, stretch, first, fold) || !can_judge(before, all, &all->rows[i + length - 1]))
                        continue;
                err = judge_stretch(before, all, i, length, &old);
                if (!err)
                        err = judge_stretch(learnt, all, i, length, &new);
                if (err)
                        return err;
                if (!judge_is_known(&old) || !judge_is_known(&new))
                        continue;
                ret->better = (ret->n_held_out > 0 ? ret->better : 0) + judge_likelihood(&new) - judge_likelihood(&old);
                ret->n_held_out++;
        }
        return 0;
}

/*
 * Decides whether the learnt profile is worse than the profile in use. The newest stretches are held out; if a
 * component changed, every other one in turn, so that the profile learnt from the rest knows the newest days, too: days
 * before a change of the device say nothing about those after it.
 */
static int hold_out(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                    const struct design *all, struct learning *ret)
{
        size_t held = (size_t)ceil(HELD_OUT * (double)all->n_stretches), first = all->n_stretches - held;
        _cleanup_free_ struct everyday *rest = calloc(n, sizeof(*rest));

        ret->taken = true;
        ret->better = NAN;
        if (!rest)
                return -ENOMEM;
        for (size_t fold = 0; fold < MIN(held, count_folds(all)) && all->n_stretches >= STRETCHES_MIN; fold++) {
                _cleanup_(profile_freep) struct profile *learnt = NULL;
                size_t n_rest = leave_out(all, list, n, first, fold, rest);
                struct known_changes known = changes_left(all, first, fold);
                struct design design;
                int err = fit_profile(before, prior, rest, n_rest, &known, &design, &learnt);

                if (err)
                        return err;
                design_clear(&design);
                err = judge_fold(before, learnt, all, first, fold, ret);
                if (err)
                        return err;
        }
        ret->taken = !(ret->better < -CLEARLY_WORSE);
        return 0;
}

/* Was the component, or the whole profile, measured by joulecast-fit after this time? */
static bool measured_since(const struct profile *profile, enum component component, int64_t time_ns)
{
        char key[48];

        snprintf(key, sizeof(key), "x-measured_%s", component_names[component]);
        return time_of(profile_extra(profile, "profile", key)) > time_ns || time_of(profile->created) > time_ns;
}

/*
 * Converts the energy before the change, relative to now, to the change since then. False: too little is known: the
 * interval has no end, or includes no change.
 */
static bool find_interval(const struct design_change *change, struct learn_change *ret)
{
        size_t fewer = MIN(change->n_before, change->n_after);
        double before = 1 + change->before, half;

        if (!(change->lead >= CHANGE_LEAD) || fewer < CHANGE_STRETCHES)
                return false;
        half = quantile_student_t((double)(fewer - 1), 0.95) * change->before_se;
        if (fabs(change->before) < half + CHANGE_LEAST || before - half < CHANGE_LEAST)
                return false;
        ret->percent = 100 * (1 / before - 1);
        ret->percent_se = 100 * change->before_se / (before * before);
        ret->low = 100 * (1 / (before + half) - 1);
        ret->high = 100 * (1 / (before - half) - 1);
        return true;
}

/*
 * A change has one cause. A second one at about the same time is rather the part that the first does not explain.
 */
static bool is_single(const struct design *design, size_t number)
{
        const struct design_change *change = &design->changes[number];

        for (size_t c = 0; c < number; c++)
                if (MAX(design->changes[c].stretch, change->stretch) -
                            MIN(design->changes[c].stretch, change->stretch) <
                    CHANGE_STRETCHES)
                        return false;
        return change->app != SIZE_MAX || change->part != DESIGN_ALL;
}

static void tell_changes(const struct profile *before, const struct design *design, struct learning *ret)
{
        for (size_t c = 0; c < design->n_changes; c++) {
                const struct design_change *change = &design->changes[c];
                struct learn_change *told = &ret->changes[ret->n_changes];

                if (!is_single(design, c) || !find_interval(change, told))
                        continue;
                if (change->app != SIZE_MAX)
                        snprintf(told->app, sizeof(told->app), "%s", design->apps[change->app].id);
                told->component = change->part == DESIGN_AIR ? COMPONENT_WIFI : change->part;
                told->measured_since =
                        change->app == SIZE_MAX && measured_since(before, told->component, change->time_ns);
                told->time_ns = change->time_ns;
                ret->n_changes++;
        }
}

/* Rates at which earlier answers of each kind held, and the widths of intervals that follow from these. */

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

/*
 * Compares the answers of @before for the stretches of @design that end after @after_ns with the energy that was used,
 * and adds the results to the scores of @ret and of its profile: the cost of the stretch; and a forecast and a budget,
 * asked after the first step of the level in a stretch, with the recordings of @store until then (NULL: neither). 0;
 * -ENOMEM; an error of the store.
 */
static int score(const struct profile *before, const struct design *design, struct store *store, int64_t after_ns,
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
        if (ret->taken && design->metered && !(before->learned.spans > 0)) /* the new one missed nothing yet */
                ret->profile->learned.score[ANSWER_COST].width = 1;
        return err || !store ? err : score_futures(before, design, store, after_ns, ret);
}

int learn(const struct profile *before, const struct everyday *list, size_t n, struct store *store,
          struct learning *ret)
{
        _cleanup_(profile_freep) struct profile *prior = NULL;
        const struct known_changes none = { .unequal = NAN };
        struct learning learning = { 0 };
        struct design design;
        int err = profile_measured(before, &prior);

        if (!err)
                err = fit_profile(before, prior, list, n, &none, &design, &learning.profile);
        if (err)
                return err;
        learning.n_spans = design.n;
        learning.n_stretches = design.n_stretches;
        learning.days = (double)(design.rows[design.n - 1].everyday->end_ns - design.rows[0].everyday->start_ns) /
                        (86400.0 * NS_PER_S);
        err = hold_out(before, prior, list, n, &design, &learning);
        if (!err)
                err = score(before, &design, store, until_ns(before), &learning);
        tell_changes(before, &design, &learning);
        design_clear(&design);
        if (err)
                learn_clear(&learning);
        else
                *ret = learning;
        return err;
}
