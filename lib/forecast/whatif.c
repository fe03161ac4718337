/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whatif.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/util.h"
#include "whatif-private.h"

static void question_clear(struct question *question)
{
        saved_clear(&question->saved);
        drain_clear(&question->drain);
}

uint32_t whatif_brightness(const struct profile *profile, double percent)
{
        uint32_t most = profile->max_brightness;

        for (size_t i = 0; most == 0 && i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term == TERM_DISPLAY)
                        most = profile->coefficients[i].point; /* ascending */
        return (uint32_t)lround(most * percent / 100);
}

void whatif_freep(struct whatif **whatif)
{
        if (!*whatif)
                return;
        future_clear(&(*whatif)->future);
        free(*whatif);
}

/* @app: NULL: mixed use. */
static int make(const struct history *history, const size_t *app, const struct forecast_battery *battery,
                double battery_percent, struct whatif **ret)
{
        _cleanup_(whatif_freep) struct whatif *whatif = calloc(1, sizeof(*whatif));
        const struct budget_plan plan = { .battery_percent = battery_percent,
                                         .app = app ? history->apps[*app].app : NULL };
        struct charge *charge;
        int err;

        if (!whatif)
                return -ENOMEM;
        whatif->history = history;
        whatif->battery = battery;
        whatif->said_percent = battery_percent;
        whatif->has_app = app;
        whatif->app = app ? *app : 0;
        charge = &whatif->charge;
        err = forecast_budget(history, &plan, battery, NULL, &whatif->budget);
        if (err == 0)
                err = app ? future_make(history, app, 1, future_brightness(history, battery), &whatif->future) :
                            future_make_mixed(history, NULL, 0, future_brightness(history, battery), &whatif->future);
        if (err == 0 && app)
                err = whatif_make_app(history, &whatif->future, 60 * whatif->budget.minutes.value);
        if (err == 0)
                err = charge_of(history, battery->known ? &battery->battery : NULL,
                                future_read_load_w(&whatif->future, battery), battery_percent, charge);
        if (err < 0)
                return err;
        whatif->available_j = charge_energy_j(charge, 0);
        whatif->available_sd_j = hypot(charge->percent_sd * charge->percent_j,
                                       charge->energy_sd * fmax(whatif->available_j, 0));
        *ret = TAKE_PTR(whatif);
        return 0;
}

int whatif_new(const struct history *history, const struct forecast_battery *battery, double battery_percent,
               struct whatif **ret)
{
        return make(history, NULL, battery, battery_percent, ret);
}

int whatif_new_app(const struct history *history, size_t app, const struct forecast_battery *battery,
                   double battery_percent,
                   struct whatif **ret)
{
        return make(history, &app, battery, battery_percent, ret);
}

const struct budget *whatif_budget(const struct whatif *whatif)
{
        return &whatif->budget;
}

const struct mixed *whatif_mixed(const struct whatif *whatif)
{
        return &whatif->future.mixed;
}

static int find_apps(const struct history *history, const struct changes *changes, size_t *apps, const char **missing)
{
        for (size_t i = 0; i < changes->n_close; i++) {
                ssize_t found = history_find(history, changes->close[i]);

                if (found < 0) {
                        if (missing)
                                *missing = changes->close[i];
                        return -ENODATA;
                }
                apps[i] = (size_t)found;
        }
        return 0;
}

static int check(const struct changes *changes)
{
        if (changes->n_close > CHANGE_APPS_MAX || changes->off & ~CHANGE_OFF_ALL ||
            changes->brightness_percent < 0 || changes->brightness_percent > 100 ||
            changes->keep_minutes < 0 || changes->keep_minutes > MINUTES_MAX ||
            changes->battery_percent < 0 || changes->battery_percent > 100)
                return -EINVAL;
        for (size_t i = 0; i < changes->n_close; i++)
                if (!changes->close[i] || !*changes->close[i])
                        return -EINVAL;
        return 0;
}

/* An app that is named twice is closed once, and not frozen where it is closed. */
static void each_once(size_t *apps, struct changes *changes)
{
        uint32_t behind = 0;
        size_t kept = 0;

        for (size_t i = 0; i < changes->n_close; i++) {
                uint32_t frozen = changes->behind >> i & 1;
                size_t at = 0;

                while (at < kept && apps[at] != apps[i])
                        at++;
                behind = at == kept ? behind | frozen << at : behind & ~((frozen ^ 1) << at);
                apps[at] = apps[i];
                kept += at == kept;
        }
        changes->n_close = kept;
        changes->behind = behind;
}

/* Bounds are unknown if a changed part has no coefficient; if only other parts lack one, the gain is an upper limit. */
static void mark_unknown(const struct question *question, struct gain *gain)
{
        const struct mixed *mixed = &question->whatif->future.mixed;
        uint32_t unpriced = mixed->now.vector.unpriced | mixed->usual.vector.unpriced, lacks = question->saved.lacks;
        bool saves = fabs(question->saved.now_w) > 1e-9 || fabs(question->saved.usual_w) > 1e-9 ||
                     question->saved.spread_usual_w > 1e-9; /* a brightness that was not measured */

        if (unpriced | lacks) {
                gain->changed.low = NAN;
                /* a loss is at most this large, too */
                *(gain->gained.value < 0 ? &gain->gained.high : &gain->gained.low) = NAN;
        }
        if (lacks)
                gain->gained.low = gain->gained.high = NAN;
        if (lacks && !saves)
                gain->gained = gain->changed = (struct cost_value){ NAN, NAN, NAN };
        gain->nothing = !lacks && !saves;
        if (gain->nothing) {
                gain->gained = (struct cost_value){ 0, 0, 0 };
                gain->changed = gain->minutes;
        }
        future_basis(&question->whatif->future, question->whatif->battery, question->whatif->said_percent,
                     unpriced | lacks, gain->basis);
}

static int answer(const struct question *question, struct gain *gain)
{
        const struct whatif *whatif = question->whatif;
        _cleanup_(whatif_end_clear) struct end with = { 0 }, without = { 0 };
        double left_j, now_s = 60 * whatif->budget.minutes.value;
        int err;

        if (!(now_s > 0) || now_s >= 60 * MINUTES_MAX) { /* unknown, empty, or for ever */
                gain->gained = (struct cost_value){ isnan(now_s) ? NAN : 0, NAN, NAN };
                gain->changed = gain->minutes;
                return 0;
        }
        err = whatif_left_at(question, true, now_s, &with, &left_j);
        if (err == 0)
                err = left_j > 0 ? whatif_find_end(question, now_s, left_j, 1.1 * now_s, &with) :
                                   whatif_find_end(question, 0, whatif->available_j, now_s, &with);
        if (err == -ERANGE) {
                gain->gained = gain->changed = (struct cost_value){ MINUTES_MAX, NAN, NAN };
                return 0;
        }
        without.seconds = now_s;
        if (err == 0)
                err = whatif_find_power(question, true, &with);
        if (err == 0)
                err = whatif_find_power(question, false, &without);
        if (err == 0)
                err = whatif_gained(question, &with, &without, &gain->gained);
        return err ? err : whatif_changed(question, &with, &without, &gain->changed);
}

/* @once gets the changes, each app once; @apps their indices. */
static int make_question(struct whatif *whatif, const struct changes *changes, const char **missing,
                         struct changes *once, size_t *apps,
                         struct question *question)
{
        const struct history *history = whatif->history;
        bool has_app = whatif->has_app;
        int err = check(changes);

        *once = *changes;
        *question = (struct question){
                .whatif = whatif, .changes = once,
                .keep_s = isnan(changes->keep_minutes) ? INFINITY : 60 * changes->keep_minutes,
        };
        if (err == 0)
                err = find_apps(history, changes, apps, missing);
        if (err < 0)
                return err;
        each_once(apps, once);
        if (has_app)
                once->behind = UINT32_MAX;
        err = saved_make(history, once, apps, &whatif->future.mixed, &question->saved);
        return err ? err : drain_make(history, has_app ? &whatif->app : apps, has_app ? 1 : once->n_close,
                                      &question->drain);
}

static bool has_price(const struct question *question)
{
        const struct mixed *mixed = &question->whatif->future.mixed;

        return !(mixed->now.vector.unpriced | mixed->usual.vector.unpriced | question->saved.lacks);
}

int whatif_surely_left_j(struct whatif *whatif, const struct changes *changes, double minutes, double *ret)
{
        _cleanup_(question_clear) struct question question = { 0 };
        size_t apps[CHANGE_APPS_MAX];
        struct changes once;
        int err = make_question(whatif, changes, NULL, &once, apps, &question);

        *ret = NAN;
        return err || !has_price(&question) ? err : whatif_least_left_j(&question, 60 * minutes, ret);
}

int whatif_surely_minutes(struct whatif *whatif, const struct changes *changes, double *ret)
{
        _cleanup_(question_clear) struct question question = { 0 };
        double low = 0, high = 60, left_j = 0;
        size_t apps[CHANGE_APPS_MAX];
        struct changes once;
        int err = make_question(whatif, changes, NULL, &once, apps, &question);

        *ret = NAN;
        if (err || !has_price(&question))
                return err;
        while ((err = whatif_least_left_j(&question, high, &left_j)) == 0 && left_j > 0 && high < 60 * MINUTES_MAX) {
                low = high;
                high = fmin(2 * high, 60 * MINUTES_MAX);
        }
        for (int i = 0; err == 0 && !isnan(left_j) && i < 40 && high - low > 1e-5 * high; i++) {
                double middle = (low + high) / 2;

                err = whatif_least_left_j(&question, middle, &left_j);
                *(left_j > 0 ? &low : &high) = middle;
        }
        if (err == 0 && !isnan(left_j))
                *ret = low / 60;
        return err;
}

int whatif_ask(struct whatif *whatif, const struct changes *changes, const char **missing, struct gain *ret)
{
        const struct history *history = whatif->history;
        _cleanup_(question_clear) struct question question = { 0 };
        struct gain gain = { .minutes = whatif->budget.minutes, .battery_percent = whatif->budget.battery_percent };
        size_t apps[CHANGE_APPS_MAX];
        struct changes once;
        int err = make_question(whatif, changes, missing, &once, apps, &question);

        if (err == 0)
                err = answer(&question, &gain);
        if (err < 0)
                return err;
        mark_unknown(&question, &gain);
        gain.n_apps = once.n_close;
        for (size_t i = 0; i < gain.n_apps; i++)
                snprintf(gain.apps[i], sizeof(gain.apps[i]), "%s", history->apps[apps[i]].app);
        *ret = gain;
        return 0;
}

int whatif_gain(const struct history *history, const struct changes *changes, const struct forecast_battery *battery,
                const char **missing, struct gain *ret)
{
        _cleanup_(whatif_freep) struct whatif *whatif = NULL;
        size_t apps[CHANGE_APPS_MAX];
        int err = check(changes);

        if (err == 0)
                err = find_apps(history, changes, apps, missing);
        if (err == 0)
                err = whatif_new(history, battery, changes->battery_percent, &whatif);
        return err ? err : whatif_ask(whatif, changes, missing, ret);
}
