/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whatif.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "future.h"
#include "saved.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

struct whatif {
        const struct history *history;
        const struct forecast_battery *battery;
        double said_percent;
        struct budget budget;      /* without the change */
        struct future future;      /* its drain is of no app */
        struct charge charge;
        double available_j, available_sd_j;
};

/* One question. */
struct question {
        const struct whatif *whatif;
        const struct changes *changes;
        struct saved saved;
        struct drain drain;        /* of the apps to close */
        double keep_s;
};

/* When nothing is left, and how fast it went: minutes per J are 1 / 60 / power_w. */
struct end {
        struct sum sum;
        double seconds, power_w;
        double kept_now_s, kept_usual_s; /* in which the change saved */
        double now_s;
};

static void question_clear(struct question *question)
{
        saved_clear(&question->saved);
        drain_clear(&question->drain);
}

static void end_clear(struct end *end)
{
        future_sum_clear(&end->sum);
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

int whatif_new(const struct history *history, const struct forecast_battery *battery, double battery_percent,
               struct whatif **ret)
{
        _cleanup_(whatif_freep) struct whatif *whatif = calloc(1, sizeof(*whatif));
        const struct budget_plan plan = { .battery_percent = battery_percent };
        struct charge *charge;
        int err;

        if (!whatif)
                return -ENOMEM;
        whatif->history = history;
        whatif->battery = battery;
        whatif->said_percent = battery_percent;
        charge = &whatif->charge;
        err = forecast_budget(history, &plan, battery, NULL, &whatif->budget);
        if (err == 0)
                err = future_make_mixed(history, NULL, 0, future_brightness(history, battery), &whatif->future);
        if (err == 0)
                err = charge_of(history, battery->known ? &battery->battery : NULL,
                                future_read_load_w(&whatif->future, battery), battery_percent, charge);
        if (err < 0)
                return err;
        whatif->available_j = charge_energy_j(charge, 0);
        whatif->available_sd_j = hypot(charge->percent_sd * charge->percent_j, charge->energy_sd * fmax(whatif->available_j, 0));
        *ret = TAKE_PTR(whatif);
        return 0;
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

/* An app that is named twice is closed once. */
static size_t each_once(size_t *apps, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                size_t at = 0;

                while (at < kept && apps[at] != apps[i])
                        at++;
                if (at == kept)
                        apps[kept++] = apps[i];
        }
        return kept;
}

/* All that is used until then, @changed or not. */
static int sum_until(const struct question *question, bool changed, double seconds, struct end *ret)
{
        const struct future *future = &question->whatif->future;
        const struct saved *saved = &question->saved;
        double now_s, usual_s, kept_now_s = 0, kept_usual_s = 0;
        int err = 0;

        end_clear(ret);
        *ret = (struct end){ .seconds = seconds };
        mixed_seconds(&future->mixed, seconds, &now_s, &usual_s);
        if (changed) {
                mixed_seconds(&future->mixed, fmin(seconds, question->keep_s), &kept_now_s, &kept_usual_s);
                err = future_sum_rate(&ret->sum, &saved->now, kept_now_s);
                if (err == 0)
                        err = future_sum_rate(&ret->sum, &saved->usual, kept_usual_s);
        }
        if (err == 0)
                err = future_sum_rate(&ret->sum, &future->mixed.now, fmax(now_s - kept_now_s, 0));
        if (err == 0)
                err = future_sum_rate(&ret->sum, &future->mixed.usual, fmax(usual_s - kept_usual_s, 0));
        for (size_t a = 0; a < question->changes->n_close && changed; a++)
                ret->sum.own_j[a] = -(saved->apps[a].now_w * kept_now_s + saved->apps[a].usual_w * kept_usual_s);
        ret->sum.seconds = seconds;
        ret->kept_now_s = kept_now_s;
        ret->kept_usual_s = kept_usual_s;
        ret->now_s = now_s;
        return err;
}

/* The future, with what the battery gave by the apps that are to be closed. */
static struct future future_of(const struct question *question)
{
        struct future future = question->whatif->future; /* which owns all of it */

        future.drain = question->drain;
        return future;
}

static int left_at(const struct question *question, bool changed, double seconds, struct end *end, double *left_j)
{
        const struct whatif *whatif = question->whatif;
        struct future future = future_of(question);
        int err = sum_until(question, changed, seconds, end);

        if (err == 0)
                *left_j = future_left_j(&future, &whatif->charge, whatif->available_j, &end->sum);
        return err;
}

/* How fast it goes at the end, with what the load takes of the voltage; W. */
static int find_power(const struct question *question, bool changed, struct end *end)
{
        double at_s = end->seconds, step_s = fmax(at_s * 0.005, 30), from_s = fmax(at_s - step_s, 0);
        double to_s = at_s + step_s, before_j, after_j;
        int err = left_at(question, changed, to_s, end, &after_j);

        if (err == 0)
                err = left_at(question, changed, from_s, end, &before_j);
        if (err == 0)
                err = sum_until(question, changed, at_s, end);
        end->power_w = err ? NAN : (before_j - after_j) / (to_s - from_s);
        return err;
}

/* From a time @at that has so much left to the one that has none: secants within a bracket. */
static int find_end(const struct question *question, double low, double low_j, double high, struct end *end)
{
        const double most_s = 60 * MINUTES_MAX;
        double high_j, at = high, at_j;
        int err = left_at(question, true, high, end, &high_j), side = 0;

        while (err == 0 && high_j > 0 && high < most_s) {
                low = high;
                low_j = high_j;
                high = fmin(2 * high, most_s);
                err = left_at(question, true, high, end, &high_j);
        }
        if (err || high_j > 0)
                return err ? err : -ERANGE;
        for (int i = 0; i < 60 && high - low > 1e-6 * high; i++) {
                at = low + (high - low) * low_j / (low_j - high_j);
                if (!(at > low && at < high))
                        at = (low + high) / 2;
                err = left_at(question, true, at, end, &at_j);
                if (err || fabs(at_j) < 1e-6 * question->whatif->available_j)
                        break;
                if (at_j > 0) { /* the other end counts half if it stays twice (Illinois) */
                        high_j *= side > 0 ? 0.5 : 1;
                        low = at;
                        low_j = at_j;
                        side = 1;
                } else {
                        low_j *= side < 0 ? 0.5 : 1;
                        high = at;
                        high_j = at_j;
                        side = -1;
                }
        }
        return err;
}

static double square(double value)
{
        return value * value;
}

/* Covariance of what a process with stationary increments has done until @a and until @b. */
static double common_j2(double at_a_j2, double at_b_j2, double between_j2)
{
        return (at_a_j2 + at_b_j2 - between_j2) / 2;
}

static double mixed_j2(const struct whatif *whatif, double seconds)
{
        return square(mixed_sd_j(&whatif->future.mixed, seconds));
}

static double daemons_j2(const struct whatif *whatif, double seconds)
{
        return square(model_background_sd_j(whatif->history->profile, seconds));
}

/*
 * Variance of a * (energy until the end with the change) - b * (... without it), whose errors are common for the most
 * part; in the unit of a and b squared, per W^2. Use: what both do in the same time is the same, but for what the
 * change saves of it.
 */
static double use_s2(const struct question *question, const struct end *with, const struct end *without, double a, double b)
{
        const struct whatif *whatif = question->whatif;
        double with_j2 = mixed_j2(whatif, with->seconds), without_j2 = mixed_j2(whatif, without->seconds);
        double kept_s = fmin(with->seconds, question->keep_s), kept_j2 = mixed_j2(whatif, kept_s);
        double gap_s = fabs(with->seconds - without->seconds);
        double sum = a * a * with_j2 + b * b * without_j2 -
                     2 * a * b * common_j2(with_j2, without_j2, mixed_j2(whatif, gap_s));
        double both = a * common_j2(with_j2, kept_j2, mixed_j2(whatif, with->seconds - kept_s)) -
                      b * common_j2(without_j2, kept_j2, mixed_j2(whatif, fabs(without->seconds - kept_s)));

        sum += a * a * question->saved.variance_part * kept_j2 - 2 * a * question->saved.common_part * both;
        sum += a * a * daemons_j2(whatif, with->seconds) + b * b * daemons_j2(whatif, without->seconds) -
               2 * a * b * common_j2(daemons_j2(whatif, with->seconds), daemons_j2(whatif, without->seconds),
                                     daemons_j2(whatif, gap_s));
        sum += square(question->saved.relit ? b * without->now_s : a * with->now_s - b * without->now_s) *
               square(whatif->future.mixed.now.session_sd_w); /* the brightness may go back */
        return fmax(sum, 0);
}

/* The model: the coefficients' covariance, and what the battery gave, of the same combination; without the unit. */
static double model_s2(const struct question *question, const struct model_vector *vector, const double *own_j, double seconds)
{
        const struct profile *profile = question->whatif->history->profile;
        double t2 = square(quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) / quantile_normal(FORECAST_LEVEL));
        double energy_j = model_energy_mj(profile, vector) * 1e-3, shift_j = 0, drain_j2 = 0;
        const struct model_user user = { TUNING_OTHER_APPS, true, fabs(seconds) };
        double sum = t2 * model_variance_j2(profile, vector);

        if (question->drain.n == 0)
                return sum + t2 * square(model_misfit_sd_j(profile, &user, vector));
        drain_add(&question->drain, vector, energy_j, own_j, &shift_j, &drain_j2);
        return fmax(sum + drain_j2, 0);
}

/* What is not known of what is saved, beyond the coefficients. A measured drain shows what apps in front draw. */
static double saved_j2(const struct question *question, const struct end *with)
{
        const struct profile *profile = question->whatif->history->profile;
        const struct saved *saved = &question->saved;
        double t2 = square(quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) / quantile_normal(FORECAST_LEVEL));
        double front_j = saved->front_now_w * with->kept_now_s + saved->front_usual_w * with->kept_usual_s;
        double else_j = saved->else_now_w * with->kept_now_s + saved->else_usual_w * with->kept_usual_s;
        double spread_j = saved->spread_now_w * with->kept_now_s + saved->spread_usual_w * with->kept_usual_s;

        return t2 * (square(else_j) + (question->drain.n == 0 ? square(front_j) : 0)) + square(spread_j) / 3;
}

/* Standard deviation of seconds: @a and @b are 1 / W at both ends; @b = 0: of the end with the change alone. */
static int find_sd(const struct question *question, const struct end *with, const struct end *without, double a, double b,
                   double *ret)
{
        const struct whatif *whatif = question->whatif;
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        double own[ACTORS_MAX], sum;
        int err = model_vector_add_scaled(&vector, &with->sum.vector, a * (1 + TUNING_WARM));

        if (err == 0)
                err = model_vector_add_scaled(&vector, &without->sum.vector, -b * (1 + TUNING_WARM));
        if (err < 0)
                return err;
        for (size_t i = 0; i < ACTORS_MAX; i++)
                own[i] = a * with->sum.own_j[i];
        sum = model_s2(question, &vector, own, a * with->seconds - b * without->seconds) +
              a * a * saved_j2(question, with) + use_s2(question, with, without, a, b) +
              square((a - b) * whatif->available_sd_j);
        *ret = sqrt(sum);
        return 0;
}

/* Half of the interval, if the ends lie @gap_s apart and not as far as is likely. @ab: 1 / W^2. */
static double half_s(const struct question *question, double likely_s, double gap_s, double sd_s, double ab)
{
        const struct whatif *whatif = question->whatif;
        double more_j2 = mixed_j2(whatif, gap_s) - mixed_j2(whatif, likely_s) + daemons_j2(whatif, gap_s) -
                         daemons_j2(whatif, likely_s);

        return profile_width(whatif->history->profile, ANSWER_BUDGET) * quantile_normal(FORECAST_LEVEL) *
               sqrt(fmax(sd_s * sd_s + ab * more_j2, 0));
}

/*
 * How far apart both ends may be. Between them the device may do nothing, and then the energy that is saved lasts far longer
 * than at the mean power: the farther the ends, the less is known of what is used between them.
 */
static double farthest_s(const struct question *question, double likely_s, double sd_s, double ab)
{
        double low = likely_s, high = likely_s + half_s(question, likely_s, likely_s, sd_s, ab);

        while (high - likely_s < half_s(question, likely_s, high, sd_s, ab) && high < 60 * MINUTES_MAX) {
                low = high;
                high = likely_s + 1.5 * (high - likely_s);
        }
        for (int i = 0; i < 40; i++) {
                double at = (low + high) / 2;

                *(at - likely_s < half_s(question, likely_s, at, sd_s, ab) ? &low : &high) = at;
        }
        return high;
}

static struct cost_value minutes_of(const struct whatif *whatif, double seconds, double sd_s)
{
        double half = profile_width(whatif->history->profile, ANSWER_BUDGET) * quantile_normal(FORECAST_LEVEL) * sd_s;

        return (struct cost_value){ seconds / 60, (seconds - half) / 60, (seconds + half) / 60 };
}

static struct cost_value gained_of(const struct question *question, const struct end *with, const struct end *without,
                                   double sd_s)
{
        double seconds = with->seconds - without->seconds;
        double far = farthest_s(question, fabs(seconds), sd_s, 1 / (with->power_w * without->power_w)) / 60;
        struct cost_value gained = minutes_of(question->whatif, seconds, sd_s);

        *(seconds < 0 ? &gained.low : &gained.high) = seconds < 0 ? -far : far;
        return gained;
}

/* What has no coefficient makes it unknown; where only other things have none, it is less than that. */
static void mark_unknown(const struct question *question, struct gain *gain)
{
        const struct mixed *mixed = &question->whatif->future.mixed;
        uint32_t unpriced = mixed->now.vector.unpriced | mixed->usual.vector.unpriced, lacks = question->saved.lacks;
        bool saves = fabs(question->saved.now_w) > 1e-9 || fabs(question->saved.usual_w) > 1e-9 ||
                     question->saved.spread_usual_w > 1e-9; /* a brightness that was not measured */

        if (unpriced | lacks) {
                gain->changed.low = NAN;
                *(gain->gained.value < 0 ? &gain->gained.high : &gain->gained.low) = NAN; /* what is lost is less, too */
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
        future_basis(&question->whatif->future, question->whatif->battery, question->whatif->said_percent, unpriced | lacks,
                     gain->basis);
}

static int answer(const struct question *question, struct gain *gain)
{
        const struct whatif *whatif = question->whatif;
        _cleanup_(end_clear) struct end with = { 0 }, without = { 0 };
        double left_j, sd_s, now_s = 60 * whatif->budget.minutes.value;
        int err;

        if (!(now_s > 0) || now_s >= 60 * MINUTES_MAX) { /* unknown, empty, or for ever */
                gain->gained = (struct cost_value){ isnan(now_s) ? NAN : 0, NAN, NAN };
                gain->changed = gain->minutes;
                return 0;
        }
        err = left_at(question, true, now_s, &with, &left_j);
        if (err == 0)
                err = left_j > 0 ? find_end(question, now_s, left_j, 1.1 * now_s, &with) :
                                   find_end(question, 0, whatif->available_j, now_s, &with);
        if (err == -ERANGE) {
                gain->gained = gain->changed = (struct cost_value){ MINUTES_MAX, NAN, NAN };
                return 0;
        }
        without.seconds = now_s;
        if (err == 0)
                err = find_power(question, true, &with);
        if (err == 0)
                err = find_power(question, false, &without);
        if (err == 0)
                err = find_sd(question, &with, &without, 1 / with.power_w, 1 / without.power_w, &sd_s);
        if (err < 0)
                return err;
        gain->gained = gained_of(question, &with, &without, sd_s);
        err = find_sd(question, &with, &without, 1 / with.power_w, 0, &sd_s);
        gain->changed = minutes_of(whatif, with.seconds, sd_s);
        gain->changed.low = fmax(gain->changed.low, 0);
        return err;
}

int whatif_ask(struct whatif *whatif, const struct changes *changes, const char **missing, struct gain *ret)
{
        const struct history *history = whatif->history;
        struct changes once = *changes;
        _cleanup_(question_clear) struct question question = {
                .whatif = whatif, .changes = &once,
                .keep_s = isnan(changes->keep_minutes) ? INFINITY : 60 * changes->keep_minutes,
        };
        struct gain gain = { .minutes = whatif->budget.minutes, .battery_percent = whatif->budget.battery_percent };
        size_t apps[CHANGE_APPS_MAX];
        int err = check(changes);

        if (err == 0)
                err = find_apps(history, changes, apps, missing);
        if (err < 0)
                return err;
        once.n_close = each_once(apps, changes->n_close);
        err = saved_make(history, &once, apps, &whatif->future.mixed, &question.saved);
        if (err == 0)
                err = drain_make(history, apps, once.n_close, &question.drain);
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
