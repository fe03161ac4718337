/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daily-use.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "answer/answer.h"
#include "forecast/cost.h"
#include "store/store.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

#define DAYS_MAX 7        /* only the last ones count */
#define DAYS_LEAST (1.0 / 24)
#define DAY_NS (86400 * (double)NS_PER_S)

/* Is @name the app's id, the last part of the id ("Maps" of "org.example.Maps"), or its display name? */
static bool is_named(const struct cost_app *app, const char *name)
{
        const char *dot = strrchr(app->app, '.');

        return strcasecmp(app->app, name) == 0 || (dot && strcasecmp(dot + 1, name) == 0) ||
               (app->name && strcasecmp(app->name, name) == 0);
}

static double known(double joules)
{
        return isfinite(joules) ? joules : 0;
}

/* False: the app is not there, or has no energy. */
static bool sum_app(const struct cost *cost, const char *name, struct daily_use *ret)
{
        static const enum component parts[] = { COMPONENT_CPU, COMPONENT_DISK, COMPONENT_WIFI, COMPONENT_CELLULAR,
                                                COMPONENT_GPU };
        double active_s[2] = { 0, 0 }, half_j = 0, all_j = 0;

        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                if (!is_named(app, name))
                        continue;
                util_printable(app->name ? app->name : app->app, ret->app, sizeof(ret->app));
                active_s[app->state != STATE_FOREGROUND] += app->active_s;
                ret->cpu_j += known(app->component_j[COMPONENT_CPU]);
                for (size_t c = 0; c < ARRAY_SIZE(parts); c++)
                        ret->work_j += known(app->component_j[parts[c]]);
                all_j += known(app->energy_j.value);
                half_j += known(app->energy_j.high - app->energy_j.low) / 2;
        }
        ret->active_s = active_s[0] > 0 ? active_s[0] : active_s[1];
        ret->uncertain = all_j > 0 ? half_j / all_j : NAN;
        return all_j > 0 && ret->active_s > 0;
}

static int sum_up(const struct cost *cost, const char *const *names, struct daily_use *ret)
{
        struct daily_use use = { .days = (double)(cost->to_ns - cost->from_ns) / DAY_NS,
                                 .device_w = cost->total_j.value / cost->recorded_s };

        if (!(use.days >= DAYS_LEAST) || !(use.device_w > 0))
                return -ENOENT;
        for (; names[use.at]; use.at++) {
                *ret = use;
                if (!*names[use.at] || !sum_app(cost, names[use.at], ret))
                        continue;
                ret->active_s /= use.days;
                ret->cpu_j /= use.days;
                ret->work_j /= use.days;
                return 0;
        }
        return -ENOENT;
}

/* Reads the last DAYS_MAX days of the records. */
static int price_days(const struct profile *profile, struct store *store, struct cost **ret)
{
        struct cost *all;
        int err = cost_make(profile, store, INT64_MIN, INT64_MAX, &all);

        if (err < 0 || (double)(all->to_ns - all->from_ns) <= DAYS_MAX * DAY_NS) {
                if (err == 0)
                        *ret = all;
                return err;
        }
        err = cost_make(profile, store, all->to_ns - (int64_t)(DAYS_MAX * DAY_NS), all->to_ns, ret);
        cost_free(all);
        return err;
}

/* A file that the user named must exist; if the device has none of its own, nothing is said. */
static int find_files(const struct options *options, char **usage)
{
        _cleanup_free_ char *profile = NULL;
        int err = 0;

        if (options->profile && access(options->profile, R_OK) < 0) {
                log_error(&program_log, "%s: %s", options->profile, util_reason(-errno));
                return -EINVAL;
        }
        if (options->database)
                *usage = strdup(options->database);
        else
                err = paths_usage(options->device, false, usage);
        if (!err && !*usage)
                err = -ENOMEM;
        if (!err && access(*usage, F_OK) < 0) {
                if (options->database)
                        log_error(&program_log, "there is no database %s", options->database);
                return options->database ? -EINVAL : -ENOENT;
        }
        if (!err && !options->profile)
                err = open_profile_path(options, &profile);
        if (!err && !options->profile && access(profile, R_OK) < 0)
                return -ENOENT;
        return err;
}

int daily_use_find(const struct options *options, const char *app, const char *const *names, struct daily_use *ret)
{
        const char *const asked[] = { app, NULL };
        static const struct log quiet = { 0 };
        _cleanup_free_ char *path = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct profile *profile = NULL;
        struct store *store = NULL;
        int err = find_files(options, &path);

        if (!err && open_profile(options, &profile) != CODE_OK)
                err = -EINVAL;
        if (!err)
                err = store_open(path, STORE_READ, options->database ? &program_log : &quiet, &store);
        if (!err)
                err = price_days(profile, store, &cost);
        if (!err)
                err = sum_up(cost, app ? asked : names, ret);
        store_close(store);
        profile_free(profile);
        if (err == 0 || err == -ENOMEM || (err == -EINVAL && options->profile) ||
            (err != -ENODATA && err != -ENOENT && options->database))
                return err;
        if (!app)
                return -ENOENT;
        log_error(&program_log, "nothing is recorded of %s on this device; joulecast apps lists names", app);
        return -EINVAL;
}

double daily_use_minutes(const struct daily_use *use, double joules)
{
        return joules / use->device_w / 60;
}
