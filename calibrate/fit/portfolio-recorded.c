/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Makes the portfolio from the usage recorded in the last two weeks. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "portfolio-usage.h"
#include "store/store.h"
#include "util/drop-root.h"
#include "util/units.h"
#include "util/util.h"

#define DAYS 14
#define NS_PER_DAY (INT64_C(86400) * (int64_t)NS_PER_S)

/* Spans of equal length, at least the minimum, become totals; the busiest apps become apps. */
#define STRETCHES 24
#define STRETCH_NS (1200 * NS_PER_S)
#define APPS_MAX 40

/* Minimum of recorded time, in all and per span. */
#define RECORDED_MIN_NS (3600 * NS_PER_S)
#define STRETCH_MIN_NS (600 * NS_PER_S)

struct recorded_app {
        char app[APP_ID_MAX];
        enum app_state state;
        struct usage usage;
};

struct recorded {
        int64_t from_ns, to_ns;
        struct usage totals[STRETCHES];
        size_t n_totals;
        struct recorded_app *apps;
        size_t n_apps, capacity;
};

static void recorded_clear(struct recorded *recorded)
{
        for (size_t i = 0; i < STRETCHES; i++)
                usage_clear(&recorded->totals[i]);
        for (size_t i = 0; i < recorded->n_apps; i++)
                usage_clear(&recorded->apps[i].usage);
        free(recorded->apps);
}

static struct recorded_app *find_app(struct recorded *recorded, const struct store_row *row)
{
        struct recorded_app *app;

        for (size_t i = 0; i < recorded->n_apps; i++) {
                app = &recorded->apps[i];
                if (app->state == row->state && strcmp(app->app, row->app) == 0)
                        return app;
        }
        if (util_grow(&recorded->apps, &recorded->capacity, recorded->n_apps + 1, sizeof(*app)) < 0)
                return NULL;
        app = &recorded->apps[recorded->n_apps++];
        *app = (struct recorded_app){ .state = row->state };
        snprintf(app->app, sizeof(app->app), "%s", row->app);
        return app;
}

static int take(void *data, const struct store_row *row)
{
        struct recorded *recorded = data;
        double span_ns = (double)(recorded->to_ns - recorded->from_ns);
        double place = fmax((double)(row->start_ns - recorded->from_ns) / span_ns, 0);
        size_t stretch = MIN((size_t)(place * (double)recorded->n_totals), recorded->n_totals - 1);
        struct recorded_app *app;
        int err = usage_add(&recorded->totals[stretch], row->usage);

        if (err || !row->app[0])
                return err;
        app = find_app(recorded, row);
        return app ? usage_add(&app->usage, row->usage) : -ENOMEM;
}

static int compare_apps(const void *a, const void *b)
{
        const struct recorded_app *x = a, *y = b;
        uint64_t of_x = usage_busy_ns(&x->usage) + usage_screen_ns(&x->usage);
        uint64_t of_y = usage_busy_ns(&y->usage) + usage_screen_ns(&y->usage);

        return (of_x < of_y) - (of_x > of_y);
}

static int hand_over(struct recorded *recorded, struct portfolio_usage *ret)
{
        struct portfolio_usage usage = { 0 };

        usage.totals = calloc(STRETCHES, sizeof(*usage.totals));
        usage.apps = calloc(APPS_MAX, sizeof(*usage.apps));
        if (!usage.totals || !usage.apps) {
                portfolio_usage_clear(&usage);
                return -ENOMEM;
        }
        for (size_t i = 0; i < STRETCHES; i++) {
                if (recorded->totals[i].time_ns < STRETCH_MIN_NS)
                        continue;
                usage.totals[usage.n_totals++] = recorded->totals[i];
                recorded->totals[i] = (struct usage){ 0 };
        }
        if (recorded->n_apps > 0)
                qsort(recorded->apps, recorded->n_apps, sizeof(*recorded->apps), compare_apps);
        for (size_t i = 0; i < recorded->n_apps && usage.n_apps < APPS_MAX; i++) {
                if (usage_is_zero(&recorded->apps[i].usage))
                        continue;
                usage.apps[usage.n_apps++] = recorded->apps[i].usage;
                recorded->apps[i].usage = (struct usage){ 0 };
        }
        if (usage.n_totals == 0) {
                portfolio_usage_clear(&usage);
                return -ENODATA;
        }
        *ret = usage;
        return 0;
}

int portfolio_usage_recorded(const char *path, struct portfolio_usage *ret)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct store_query query = { .grain = STORE_BEST, .uid = -1 };
        struct recorded recorded = { 0 };
        struct store_battery span;
        int err = drop_root_to_owner(path); /* the service's user writes it */

        if (!err)
                err = store_open(path, STORE_READ, NULL, &store);
        if (!err)
                err = store_battery(store, INT64_MIN, INT64_MAX, &span);
        if (err)
                return err;
        if (span.elapsed_ns < RECORDED_MIN_NS || span.last_ns <= span.first_ns)
                return -ENODATA;
        recorded.to_ns = span.last_ns;
        recorded.from_ns = MAX(span.first_ns, span.last_ns - DAYS * NS_PER_DAY);
        recorded.n_totals = (size_t)((uint64_t)(recorded.to_ns - recorded.from_ns) / STRETCH_NS);
        recorded.n_totals = MIN(MAX(recorded.n_totals, (size_t)1), (size_t)STRETCHES);
        query.from_ns = recorded.from_ns;
        query.to_ns = INT64_MAX;
        err = store_rows(store, &query, take, &recorded);
        if (!err)
                err = hand_over(&recorded, ret);
        recorded_clear(&recorded);
        return err;
}
