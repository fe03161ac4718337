/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "advice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "future.h"
#include "mixed.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define APPS_TRIED 5
#define BRIGHTNESS_STEP 5.0
#define BRIGHTNESS_LEAST 10.0        /* a screen that can be read */

const char *const advice_words[ADVICE_KINDS] = {
        [ADVICE_CLOSE] = "close",
        [ADVICE_BRIGHTNESS] = "brightness",
        [ADVICE_WIFI] = "wifi_off",
        [ADVICE_CELLULAR] = "cellular_off",
};

struct adviser {
        const struct history *history;
        const struct forecast_battery *battery;
        struct whatif *whatif;
        struct advice *list;
        size_t n;
};

struct candidate {
        size_t app;
        double now_mj;
};

static void adviser_clear(struct adviser *adviser)
{
        whatif_freep(&adviser->whatif);
}

/* Computes the gain of @changes, and inserts @advice in order if it gains enough. */
static int try(struct adviser *adviser, struct advice advice, const struct changes *changes)
{
        int err = whatif_ask(adviser->whatif, changes, NULL, &advice.gain);
        size_t at = 0;

        if (err < 0)
                return err;
        if (!(advice.gain.gained.value >= ADVICE_LEAST_MINUTES) || !(advice.gain.gained.low > 0))
                return 0;
        while (at < adviser->n && adviser->list[at].gain.gained.value >= advice.gain.gained.value)
                at++;
        memmove(&adviser->list[at + 1], &adviser->list[at], (adviser->n - at) * sizeof(*adviser->list));
        adviser->list[at] = advice;
        adviser->n++;
        return 0;
}

/* Users do not close services and containers, nor a virtual device's daemons, which are one app. */
static bool is_service(const char *app)
{
        static const char *const prefixes[] = { "sys:", "usr:", "ctr:" };

        if (strcmp(app, "system") == 0)
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (strncmp(app, prefixes[i], strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

static bool can_be_closed(const struct history *history, size_t i)
{
        const struct history_app *app = &history->apps[i];
        bool runs = app->seen_ns >= history->blocks[history->n_blocks - 1].end_ns; /* in the last poll */

        return runs && !is_service(app->app) && strcmp(app->app, TUNING_OTHER_APPS) != 0 &&
               !(history->others && strcmp(app->app, STORE_OTHERS) == 0) &&
               history_find(history, app->app) == (ssize_t)i;
}

static int by_energy(const void *a, const void *b)
{
        const struct candidate *one = a, *other = b;

        if (one->now_mj != other->now_mj)
                return one->now_mj < other->now_mj ? 1 : -1;
        return one->app < other->app ? -1 : one->app > other->app;
}

int advice_running(const struct history *history, const struct mixed *mixed, size_t most, size_t *ret, size_t *ret_n)
{
        _cleanup_free_ struct candidate *all = calloc(history->n_apps, sizeof(*all)); /* n <= i: in place */
        size_t n = 0;

        if (!all)
                return -ENOMEM;
        for (size_t i = 0; i < history->n_uses; i++)
                all[history->uses[i].app].now_mj +=
                        history->uses[i].unlit_mj * mixed_is_now(mixed, &history->blocks[history->uses[i].block]);
        for (size_t i = 1; i < history->n_apps; i++)
                if (can_be_closed(history, i))
                        all[n++] = (struct candidate){ i, all[i].now_mj };
        if (n > 1)
                qsort(all, n, sizeof(*all), by_energy);
        for (*ret_n = 0; *ret_n < MIN(n, most); (*ret_n)++)
                ret[*ret_n] = all[*ret_n].app;
        return 0;
}

static int try_apps(struct adviser *adviser)
{
        const struct history *history = adviser->history;
        size_t apps[APPS_TRIED], n = 0;
        int err = advice_running(history, whatif_mixed(adviser->whatif), APPS_TRIED, apps, &n);

        for (size_t i = 0; i < n && err == 0; i++) {
                const struct history_app *app = &history->apps[apps[i]];
                struct advice advice = { .kind = ADVICE_CLOSE, .brightness_percent = NAN };
                struct changes changes = CHANGES_NONE;

                changes.close[changes.n_close++] = app->app;
                snprintf(advice.app, sizeof(advice.app), "%s", app->app);
                snprintf(advice.name, sizeof(advice.name), "%s", app->name);
                err = try(adviser, advice, &changes);
        }
        return err;
}

/* Tries half the brightness, rounded to steps. */
static int try_brightness(struct adviser *adviser)
{
        const struct profile *profile = adviser->history->profile;
        uint32_t now = future_brightness(adviser->history, adviser->battery), most = whatif_brightness(profile, 100);
        struct advice advice = { .kind = ADVICE_BRIGHTNESS };
        struct changes changes = CHANGES_NONE;
        double percent;

        if (now == BRIGHTNESS_UNKNOWN || most == 0)
                return 0;
        percent = 100.0 * now / most;
        changes.brightness_percent = fmax(round(percent / 2 / BRIGHTNESS_STEP) * BRIGHTNESS_STEP, BRIGHTNESS_LEAST);
        advice.brightness_percent = changes.brightness_percent;
        return percent > changes.brightness_percent ? try(adviser, advice, &changes) : 0;
}

static int try_radio(struct adviser *adviser, enum advice_kind kind, enum component component)
{
        struct advice advice = { .kind = kind, .brightness_percent = NAN };
        struct changes changes = CHANGES_NONE;

        changes.off = UINT32_C(1) << component;
        return try(adviser, advice, &changes);
}

ssize_t advice_make(const struct history *history, const struct forecast_battery *battery,
                    struct advice ret[ADVICE_MAX])
{
        _cleanup_(adviser_clear) struct adviser adviser = { .history = history, .battery = battery, .list = ret };
        int err = whatif_new(history, battery, NAN, &adviser.whatif);

        _Static_assert(APPS_TRIED + ADVICE_KINDS - 1 <= ADVICE_MAX, "all that is tried has a place");
        if (err == 0)
                err = try_apps(&adviser);
        if (err == 0)
                err = try_brightness(&adviser);
        if (err == 0)
                err = try_radio(&adviser, ADVICE_WIFI, COMPONENT_WIFI);
        if (err == 0)
                err = try_radio(&adviser, ADVICE_CELLULAR, COMPONENT_CELLULAR);
        return err < 0 ? err : (ssize_t)adviser.n;
}
