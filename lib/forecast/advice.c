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
#define RUNS_S (2 * TUNING_BLOCK_S)  /* an app that was not seen for so long does not run */
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

/* Asks, and keeps it in its place if it gains enough. */
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

static bool is_service(const char *app)
{
        static const char *const prefixes[] = { "sys:", "usr:", "ctr:" };

        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (strncmp(app, prefixes[i], strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

static bool can_be_closed(const struct history *history, size_t i)
{
        const struct history_app *app = &history->apps[i];
        int64_t end_ns = history->blocks[history->n_blocks - 1].end_ns;
        int64_t last_ns = MAX(app->states[0].last_ns, app->states[1].last_ns);

        return !is_service(app->app) && strcmp(app->app, TUNING_OTHER_APPS) != 0 &&
               !(history->others && strcmp(app->app, STORE_OTHERS) == 0) &&
               last_ns >= end_ns - (int64_t)(RUNS_S * 1e9) && history_find(history, app->app) == (ssize_t)i;
}

static int by_energy(const void *a, const void *b)
{
        const struct candidate *one = a, *other = b;

        return one->now_mj < other->now_mj ? 1 : one->now_mj > other->now_mj ? -1 : 0;
}

static int try_apps(struct adviser *adviser)
{
        const struct history *history = adviser->history;
        _cleanup_free_ struct candidate *all = calloc(history->n_apps, sizeof(*all)); /* n <= i: in place */
        int err = all ? 0 : -ENOMEM;
        size_t n = 0;

        for (size_t i = 0; i < history->n_uses && all; i++)
                all[history->uses[i].app].now_mj +=
                        history->uses[i].unlit_mj *
                        mixed_is_now(whatif_mixed(adviser->whatif), &history->blocks[history->uses[i].block]);
        for (size_t i = 1; i < history->n_apps && all; i++)
                if (can_be_closed(history, i))
                        all[n++] = (struct candidate){ i, all[i].now_mj };
        if (n > 1)
                qsort(all, n, sizeof(*all), by_energy);
        for (size_t i = 0; i < MIN(n, (size_t)APPS_TRIED) && err == 0; i++) {
                const struct history_app *app = &history->apps[all[i].app];
                struct advice advice = { .kind = ADVICE_CLOSE, .brightness_percent = NAN };
                struct changes changes = CHANGES_NONE;

                changes.close[changes.n_close++] = app->app;
                snprintf(advice.app, sizeof(advice.app), "%s", app->app);
                snprintf(advice.name, sizeof(advice.name), "%s", app->name);
                err = try(adviser, advice, &changes);
        }
        return err;
}

/* Half as bright, in steps. */
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

ssize_t advice_make(const struct history *history, const struct forecast_battery *battery, struct advice ret[ADVICE_MAX])
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
