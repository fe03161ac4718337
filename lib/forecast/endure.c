/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Searches by size: no change, each change, each pair, ... */

#include "endure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "future.h"
#include "util/util.h"

/* Several changes together save no more than the sum of each alone, but for rounding and hours that differ. */
#define ESTIMATE_SLACK 1.1

/* Shared by the search and its candidates. */

struct endurer {
        const struct history *history;
        const struct endure_goal *goal;
        const struct forecast_battery *battery;
        struct whatif *whatif;
        bool surely;                                        /* the low end is known */
        ssize_t app;                                        /* index of the app in the foreground; -1: none */
        struct endure_change list[ENDURE_CANDIDATES_MAX];   /* in the order of ties */
        double least_power[ENDURE_CANDIDATES_MAX];          /* part of the mean power that is left with one of them */
        size_t n;
};

/* Which changes may be made. */

#define APPS_TRIED 4          /* each frozen and closed */
#define BRIGHTNESS_STEP 5.0
#define BRIGHTNESS_LEAST 10.0 /* a screen that can be read */

const char *const endure_words[ENDURE_KINDS] = {
        [ENDURE_BRIGHTNESS] = "brightness",       [ENDURE_LIMIT] = "limit",
        [ENDURE_CELLULAR] = "cellular_off",       [ENDURE_WIFI] = "wifi_off",
        [ENDURE_CLOSE] = "close",                 [ENDURE_POWER_PROFILE] = "power_profile",
};

int endure_kind(const char *word)
{
        for (int kind = 0; kind < ENDURE_KINDS; kind++)
                if (strcmp(word, endure_words[kind]) == 0)
                        return kind;
        return -EINVAL;
}

/* "limit:APP" or "close:APP": the app; else NULL. */
static const char *app_of_kind(const char *without, enum endure_kind kind)
{
        size_t length = strlen(endure_words[kind]);

        return strncmp(without, endure_words[kind],
                       length) == 0 && without[length] == ':' ? without + length + 1 : NULL;
}

static bool is_without(const struct endurer *endurer, enum endure_kind kind, ssize_t app)
{
        for (size_t i = 0; i < endurer->goal->n_without; i++) {
                const char *without = endurer->goal->without[i], *of = app_of_kind(without, kind);

                if (strcmp(without, endure_words[kind]) == 0)
                        return true;
                if (app >= 0 && history_find(endurer->history, of ? of : without) == app)
                        return true;
        }
        return false;
}

/* 0; -ENODATA: an app of without was never seen, which @missing gets unless it is NULL. */
static int endure_check_without(const struct history *history, const struct endure_goal *goal, const char **missing)
{
        for (size_t i = 0; i < goal->n_without; i++) {
                const char *without = goal->without[i], *limit = app_of_kind(without, ENDURE_LIMIT);
                const char *close = app_of_kind(without, ENDURE_CLOSE), *app = limit ? limit : close ? close : without;

                if (endure_kind(without) >= 0 || history_find(history, app) >= 0)
                        continue;
                if (missing)
                        *missing = app;
                return -ENODATA;
        }
        return 0;
}

/* Keeps it if it has a price, and gains something for sure. */
static int try(struct endurer *endurer, struct endure_change change)
{
        struct changes changes = endure_changes(&change, 1);
        double before = whatif_budget(endurer->whatif)->minutes.value;
        struct gain gain;
        int err = endurer->n < ENDURE_CANDIDATES_MAX ? whatif_ask(endurer->whatif, &changes, NULL, &gain) : -ENOSPC;

        if (err < 0)
                return err == -ENOSPC ? 0 : err;
        if (!(gain.gained.value >= ADVICE_LEAST_MINUTES) || !(gain.gained.low > 0))
                return 0;
        change.gained = gain.gained;
        endurer->least_power[endurer->n] = before / (before + gain.gained.value);
        endurer->list[endurer->n++] = change;
        return 0;
}

/* Three quarters, half and a quarter as bright as it is. */
static int try_brightness(struct endurer *endurer)
{
        const struct profile *profile = endurer->history->profile;
        uint32_t now = future_brightness(endurer->history, endurer->battery), most = whatif_brightness(profile, 100);
        struct endure_change change = { .kind = ENDURE_BRIGHTNESS };
        double before;
        int err = 0;

        if (is_without(endurer, ENDURE_BRIGHTNESS, -1) || now == BRIGHTNESS_UNKNOWN || most == 0)
                return 0;
        before = 100.0 * now / most;
        for (double part = 0.75, last = before; part > 0.2 && err == 0; part -= 0.25) {
                double percent = fmax(round(before * part / BRIGHTNESS_STEP) * BRIGHTNESS_STEP, BRIGHTNESS_LEAST);

                change.brightness_percent = percent;
                if (percent < last)
                        err = try(endurer, change);
                last = fmin(last, percent);
        }
        return err;
}

static int try_radio(struct endurer *endurer, enum endure_kind kind)
{
        const struct endure_change change = { .kind = kind, .brightness_percent = NAN };

        return is_without(endurer, kind, -1) ? 0 : try(endurer, change);
}

/* joulecast-focus does not freeze an app that plays sound in the background. */
static bool sounds_behind(const struct history *history, size_t app)
{
        const struct model_vector *sum = &history->apps[app].states[STATE_BACKGROUND].sum;

        for (size_t i = 0; i < sum->n; i++)
                if (model_term_component(history->profile->coefficients[i].term) == COMPONENT_AUDIO &&
                    sum->weight[i] > 0)
                        return true;
        return false;
}

static int try_apps(struct endurer *endurer, enum endure_kind kind)
{
        const struct history *history = endurer->history;
        size_t apps[APPS_TRIED], n = 0;
        int err = advice_running(history, whatif_mixed(endurer->whatif), APPS_TRIED, apps, &n);

        for (size_t i = 0; i < n && err == 0; i++) {
                struct endure_change change = { .kind = kind, .brightness_percent = NAN };

                if ((ssize_t)apps[i] == endurer->app || is_without(endurer, kind, (ssize_t)apps[i]) ||
                    (kind == ENDURE_LIMIT && sounds_behind(history, apps[i])))
                        continue;
                snprintf(change.app, sizeof(change.app), "%s", history->apps[apps[i]].app);
                snprintf(change.name, sizeof(change.name), "%s", history->apps[apps[i]].name);
                err = try(endurer, change);
        }
        return err;
}

/* Fills the list. 0; -ENOMEM. */
static int endure_find_candidates(struct endurer *endurer)
{
        int err = try_brightness(endurer);

        if (err == 0)
                err = try_apps(endurer, ENDURE_LIMIT);
        if (err == 0)
                err = try_radio(endurer, ENDURE_CELLULAR);
        if (err == 0)
                err = try_radio(endurer, ENDURE_WIFI);
        return err == 0 ? try_apps(endurer, ENDURE_CLOSE) : err;
}

static void endurer_clear(struct endurer *endurer)
{
        whatif_freep(&endurer->whatif);
}

struct set {
        size_t at[ENDURE_CHANGES_MAX]; /* ascending, in the candidates */
        size_t n;
};

struct changes endure_changes(const struct endure_change *list, size_t n)
{
        struct changes changes = CHANGES_NONE;

        for (size_t i = 0; i < n; i++) {
                switch (list[i].kind) {
                case ENDURE_BRIGHTNESS:
                        changes.brightness_percent = list[i].brightness_percent;
                        break;
                case ENDURE_CELLULAR:
                        changes.off |= UINT32_C(1) << COMPONENT_CELLULAR;
                        break;
                case ENDURE_WIFI:
                        changes.off |= UINT32_C(1) << COMPONENT_WIFI;
                        break;
                case ENDURE_LIMIT:
                        changes.behind |= UINT32_C(1) << changes.n_close;
                        changes.close[changes.n_close++] = list[i].app;
                        break;
                case ENDURE_CLOSE:
                        changes.close[changes.n_close++] = list[i].app;
                        break;
                default:
                        break;
                }
        }
        return changes;
}

/* Can @candidate be added? A set has one brightness at most, and one change per app: it is closed or frozen. */
static bool fits(const struct endurer *endurer, const struct set *set, size_t candidate)
{
        const struct endure_change *one = &endurer->list[candidate];

        for (size_t i = 0; i < set->n; i++) {
                const struct endure_change *other = &endurer->list[set->at[i]];

                if (set->at[i] == candidate || (one->kind == ENDURE_BRIGHTNESS && other->kind == ENDURE_BRIGHTNESS) ||
                    (*one->app && strcmp(one->app, other->app) == 0))
                        return false;
        }
        return true;
}

static size_t take(const struct endurer *endurer, const struct set *set, struct endure_change *list)
{
        for (size_t i = 0; i < set->n; i++)
                list[i] = endurer->list[set->at[i]];
        return set->n;
}

/*
 * The sum of what the changes save one by one gives an upper limit of the likely minutes; a set whose limit does not
 * suffice is not computed.
 */
static bool may_suffice(const struct endurer *endurer, const struct set *set)
{
        double left = 1;

        for (size_t i = 0; i < set->n; i++)
                left -= 1 - endurer->least_power[set->at[i]];
        return left <= 0 || ESTIMATE_SLACK * whatif_budget(endurer->whatif)->minutes.value / left >=
                                    endurer->goal->minutes;
}

/* The first set of @size that suffices, in the order of candidates. 1: found; 0; a negative errno. */
static int search(const struct endurer *endurer, size_t size, size_t from, struct set *set)
{
        struct endure_change list[ENDURE_CHANGES_MAX];
        struct changes changes;
        double left_j;
        int err = 0;

        if (set->n == size) {
                if (!may_suffice(endurer, set))
                        return 0;
                changes = endure_changes(list, take(endurer, set, list));
                err = whatif_surely_left_j(endurer->whatif, &changes, endurer->goal->minutes, &left_j);
                return err < 0 ? err : left_j >= 0;
        }
        for (size_t i = from; i < endurer->n && err == 0; i++) {
                if (!fits(endurer, set, i))
                        continue;
                set->at[set->n++] = i;
                err = search(endurer, size, i + 1, set);
                set->n -= err <= 0;
        }
        return err;
}

static void insert(struct set *set, size_t candidate)
{
        size_t at = set->n++;

        for (; at > 0 && set->at[at - 1] > candidate; at--)
                set->at[at] = set->at[at - 1];
        set->at[at] = candidate;
}

/* Minutes that the charge lasts: the low end, or the likely ones where that is unknown. */
static int lasts(const struct endurer *endurer, const struct changes *changes, double *ret)
{
        struct gain gain;
        int err;

        if (endurer->surely)
                return whatif_surely_minutes(endurer->whatif, changes, ret);
        err = whatif_ask(endurer->whatif, changes, NULL, &gain);
        if (err == 0)
                *ret = gain.changed.value;
        return err;
}

/* If nothing suffices: adds the change that helps most, and then, again and again, the one that helps most beside. */
static int collect(const struct endurer *endurer, struct set *set)
{
        struct endure_change list[ENDURE_CHANGES_MAX];
        double most = endurer->surely ? 0 : whatif_budget(endurer->whatif)->minutes.value;

        for (set->n = 0; set->n < ENDURE_CHANGES_MAX;) {
                struct set best = *set;

                for (size_t i = 0; i < endurer->n; i++) {
                        struct set more = *set;
                        struct changes changes;
                        double minutes;
                        int err;

                        if (!fits(endurer, set, i))
                                continue;
                        insert(&more, i);
                        changes = endure_changes(list, take(endurer, &more, list));
                        err = lasts(endurer, &changes, &minutes);
                        if (err < 0)
                                return err;
                        if (minutes > most) {
                                best = more;
                                most = minutes;
                        }
                }
                if (best.n == set->n)
                        break;
                *set = best;
        }
        return 0;
}

static int fill(const struct endurer *endurer, const struct set *set, struct endurance *endurance)
{
        struct changes changes;
        struct gain gain;
        int err = 0;

        endurance->n = take(endurer, set, endurance->list);
        changes = endure_changes(endurance->list, endurance->n);
        if (set->n > 0)
                err = whatif_ask(endurer->whatif, &changes, NULL, &gain);
        if (set->n > 0 && err == 0) {
                endurance->after = gain.changed;
                err = whatif_surely_minutes(endurer->whatif, &changes, &endurance->after.low);
        }
        if (err < 0)
                return err;
        endurance->short_minutes = fmax(endurance->goal_minutes - endurance->after.low, 0);
        if (isnan(endurance->after.low))
                endurance->short_minutes = NAN;
        endurance->suffices = isnan(endurance->after.low) ? -1 : endurance->short_minutes == 0;
        return 0;
}

static int find(struct endurer *endurer, struct endurance *endurance)
{
        const struct budget *budget = whatif_budget(endurer->whatif);
        struct set set = { 0 };
        int found = 0;

        endurer->surely = !isnan(budget->minutes.low);
        endurance->before = endurance->after = budget->minutes;
        endurance->battery_percent = budget->battery_percent;
        snprintf(endurance->basis, sizeof(endurance->basis), "%s", budget->basis);
        if (!(budget->minutes.low >= endurance->goal_minutes)) {
                found = endure_find_candidates(endurer);
                for (size_t size = 1; size <= ENDURE_CHANGES_MAX && found == 0; size++)
                        found = search(endurer, size, 0, &set);
                if (found == 0)
                        found = collect(endurer, &set);
        }
        if (found < 0)
                return found;
        return fill(endurer, &set, endurance);
}

int endure_make(const struct history *history, const struct endure_goal *goal, const struct forecast_battery *battery,
                const char **missing, struct endurance *ret)
{
        _cleanup_(endurer_clear) struct endurer endurer = {
                .history = history, .goal = goal, .battery = battery, .app = -1,
        };
        struct endurance endurance = { .goal_minutes = goal->minutes };
        int err;

        if (!(goal->minutes > 0 && goal->minutes <= MINUTES_MAX) || goal->n_without > ENDURE_WITHOUT_MAX ||
            goal->battery_percent < 0 || goal->battery_percent > 100 || (goal->app && !*goal->app))
                return -EINVAL;
        err = endure_check_without(history, goal, missing);
        if (err < 0)
                return err;
        if (goal->app) {
                endurer.app = history_find(history, goal->app);
                if (endurer.app < 0 && missing)
                        *missing = goal->app;
                if (endurer.app < 0)
                        return -ENODATA;
                snprintf(endurance.app, sizeof(endurance.app), "%s", history->apps[endurer.app].app);
                err = whatif_new_app(history, (size_t)endurer.app, battery, goal->battery_percent, &endurer.whatif);
        } else {
                err = whatif_new(history, battery, goal->battery_percent, &endurer.whatif);
        }
        if (err == 0)
                err = find(&endurer, &endurance);
        if (err == 0)
                *ret = endurance;
        return err;
}
