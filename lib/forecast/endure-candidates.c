/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which changes may be made. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "endure-private.h"
#include "future.h"
#include "util/util.h"

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

int endure_check_without(const struct history *history, const struct endure_goal *goal, const char **missing)
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

int endure_find_candidates(struct endurer *endurer)
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
