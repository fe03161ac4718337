/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API: usage. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/app.h"
#include "forecast/charging.h"
#include "forecast/suspend.h"
#include "interval/level-watch.h"
#include "joulecast-private.h"
#include "service.h"
#include "source/battery.h"
#include "source/display.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

JOULECAST_EXPORT void joulecast_usage_free(struct joulecast_usage *usage)
{
        if (!usage)
                return;
        history_free(usage->names);
        history_free(usage->history);
        profile_free(usage->learnt);
        store_close(usage->store);
        free(usage->service);
        free(usage);
}

DEFINE_CLEANUP(struct joulecast_usage, joulecast_usage_free)

/* Only root and the service may open the machine's database; others ask the service. */
static bool must_ask(const struct joulecast_usage *usage, const char *path)
{
        return !usage->context->device && !usage->context->machine && access(path, R_OK) < 0 &&
               (errno == EACCES || errno == EPERM);
}

JOULECAST_EXPORT int joulecast_usage_open(struct joulecast_context *context, const char *path,
                                          struct joulecast_usage **ret)
{
        _cleanup_(joulecast_usage_freep) struct joulecast_usage *usage = calloc(1, sizeof(*usage));
        _cleanup_free_ char *found = NULL;
        int err = 0;

        if (!usage)
                return -ENOMEM;
        usage->context = context;
        usage->uid = -1;
        usage->live = context->machine || (!path && !context->device);
        if (!path) {
                err = paths_usage(context->device, false, &found);
                path = found;
        }
        if (err < 0)
                return api_no_path(context, err);
        if (found && must_ask(usage, path))
                err = service_find(path, &context->log, &usage->service);
        else
                err = store_open(path, STORE_READ, &context->log, &usage->store);
        if (err == -ENOENT)
                log_error(&context->log, "nothing was recorded yet: there is no %s, or it is empty", path);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(usage);
        return 0;
}

JOULECAST_EXPORT int joulecast_usage_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns)
{
        int64_t first_ns, last_ns;
        int err = usage->service ? service_span(usage, &first_ns, &last_ns) :
                                   store_span(usage->store, &first_ns, &last_ns);

        if (err < 0)
                return err;
        if (from_ns)
                *from_ns = first_ns;
        if (to_ns)
                *to_ns = last_ns;
        return 0;
}

static int64_t boot_ns(void)
{
        return (int64_t)(util_clock_ns(CLOCK_REALTIME) - util_boottime_ns());
}

JOULECAST_EXPORT int joulecast_usage_since(struct joulecast_usage *usage, enum joulecast_event event, int64_t *time_ns)
{
        static const enum store_event events[] = {
                [JOULECAST_SINCE_FULL] = STORE_SINCE_FULL,
                [JOULECAST_SINCE_UNPLUG] = STORE_SINCE_UNPLUG,
                [JOULECAST_SINCE_RESUME] = STORE_SINCE_RESUME,
        };

        if (event == JOULECAST_SINCE_BOOT) {
                if (!usage->live || usage->context->machine)
                        return -ENODATA;
                *time_ns = boot_ns();
                return 0;
        }
        if ((unsigned)event >= ARRAY_SIZE(events))
                return -EINVAL;
        return usage->service ? service_since(usage, event, time_ns) :
                                store_since(usage->store, events[event], time_ns);
}

JOULECAST_EXPORT int joulecast_usage_apps(struct joulecast_usage *usage, joulecast_app_visitor visitor,
                                          void *data)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err = usage->service ? service_apps(usage, &cost) : cost_make_times(usage->store, usage->uid, &cost);

        for (size_t i = 0; err == 0 && i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                err = visitor(data, app->app, app->name, (enum joulecast_state)app->state, app->active_s);
        }
        return err;
}

/* -ENOMEM; else whether they are known is in @ret. */
static int read_live(const char *machine, struct forecast_battery *ret)
{
        _cleanup_close_ int root_fd = open(machine ? machine : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_free_ struct battery_unit *units = NULL;
        struct display_state display = { 0 };
        size_t n = 0;
        int err = root_fd < 0 ? -errno : battery_list(root_fd, &units, &n, NULL);

        if (!err && n > 0)
                battery_sum(units, n, &ret->battery);
        if (!err)
                battery_limit(units, n, &ret->limit);
        ret->known = !err && n > 0 &&
                     ret->battery.have & (BATTERY_CAPACITY | BATTERY_CHARGE_NOW | BATTERY_ENERGY_NOW);
        ret->live = ret->known;
        if (err != -ENOMEM && root_fd >= 0)
                err = display_look(root_fd, &display);
        ret->screen_known = !err && display.backlight[0] && display.brightness != BRIGHTNESS_UNKNOWN;
        ret->brightness = display.brightness;
        return err == -ENOMEM ? err : 0;
}

#define RECENT_NS (300 * (int64_t)NS_PER_S)

/* Whoever polls has seen whether the level falls. */
static void recall_status(const struct joulecast_usage *usage, struct battery *battery)
{
        if (!battery_is_to_watch(battery) || !usage->stored.known || usage->stored.battery.status == battery->status ||
            usage->stored_ns <= (int64_t)util_clock_ns(CLOCK_REALTIME) - RECENT_NS)
                return;
        battery->status = usage->stored.battery.status;
        if (battery->unfed)
                battery->have &= ~(uint32_t)BATTERY_POWER; /* it is as wrong as the word */
}

static int read_stored(struct joulecast_usage *usage)
{
        int64_t first_ns;
        int err;

        if (usage->stored_read || !usage->store)
                return 0;
        err = store_span(usage->store, &first_ns, &usage->stored_ns);
        if (!err)
                err = store_last_battery(usage->store, &usage->stored.battery);
        usage->stored.known = !err && usage->stored.battery.have;
        usage->stored_read = !err;
        return err;
}

double api_usage_counted_percent(struct joulecast_usage *usage)
{
        int64_t ago_ns;

        if (!usage->now.live || read_stored(usage) < 0 || !usage->stored.known)
                return NAN;
        ago_ns = (int64_t)util_clock_ns(CLOCK_REALTIME) - usage->stored_ns;
        if (ago_ns < 0 || ago_ns > RECENT_NS ||
            !level_watch_doubts(&usage->stored.battery, &usage->now.battery, (uint64_t)ago_ns))
                return NAN;
        return battery_percent(&usage->stored.battery);
}

/* Corrects the status by the recorded polls and @profile; NULL: by the device's own. */
static int correct_by(const struct joulecast_usage *usage, const struct joulecast_profile *profile,
                      struct battery *battery)
{
        struct joulecast_context quiet = *usage->context;
        struct joulecast_profile *own = NULL;
        int err = 0;

        quiet.log = (struct log){ 0 };
        if (!profile)
                err = joulecast_profile_load(&quiet, NULL, &own);
        if (!err)
                err = charging_correct(usage->store, profile ? profile->profile : own->profile,
                                       (int64_t)util_clock_ns(CLOCK_REALTIME), battery);
        joulecast_profile_free(own);
        return err;
}

/* Corrects the status if a supply only seems to be online. If that cannot be found out, the supply is believed. */
static int correct_status(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                          struct battery *battery)
{
        double percent;
        int plugged = -1, err = 0;

        usage->stale = false;
        if (!charging_is_doubtful(battery))
                return 0;
        if (usage->store)
                err = correct_by(usage, profile, battery);
        else if (service_battery(usage, &percent, &plugged) == 0 && plugged == 0)
                battery->status = BATTERY_DISCHARGING;
        usage->stale = battery->status == BATTERY_DISCHARGING;
        return err == -ENOMEM ? err : 0;
}

int api_usage_battery(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                      const struct forecast_battery **ret)
{
        int err = usage->live ? read_live(usage->context->machine, &usage->now) : 0;
        struct battery *now = &usage->now.battery;
        bool needed = !usage->now.known || battery_is_to_watch(now);

        if (!err && needed)
                err = read_stored(usage);
        if (usage->now.known && err != -ENOMEM)
                err = 0;
        if (!err && usage->now.live)
                err = correct_status(usage, profile, now);
        if (err < 0)
                return err;
        recall_status(usage, now);
        usage->stored.screen_known = usage->now.screen_known;
        usage->stored.brightness = usage->now.brightness;
        *ret = usage->now.known ? &usage->now : &usage->stored;
        return 0;
}

int api_usage_plugged(const struct forecast_battery *battery)
{
        return battery->battery.status == BATTERY_UNKNOWN ? -1 : battery->battery.status != BATTERY_DISCHARGING;
}

int api_usage_percent(const struct forecast_battery *battery, double *ret)
{
        double percent = battery->known ? battery_percent(&battery->battery) : NAN;

        if (isnan(percent))
                return -ENODEV;
        *ret = percent;
        return 0;
}

JOULECAST_EXPORT int joulecast_usage_battery(struct joulecast_usage *usage, double *percent, int *plugged)
{
        const struct forecast_battery *battery;
        int err = api_usage_battery(usage, NULL, &battery);

        if (err < 0)
                return err;
        if (usage->service && !battery->known)
                return service_battery(usage, percent, plugged);
        err = api_usage_percent(battery, percent);
        if (err == 0 && plugged)
                *plugged = api_usage_plugged(battery);
        return err;
}

static int read_history(struct joulecast_usage *usage, const struct joulecast_profile *profile, bool whole)
{
        _cleanup_(profile_freep) struct profile *learnt = NULL;
        struct history *history = NULL;
        int err = suspend_learn(profile->profile, usage->store, &learnt);

        if (err < 0 && err != -ENODATA)
                return err;
        err = history_read_for(learnt ? learnt : profile->profile, usage->store, usage->uid,
                               whole ? HISTORY_WHOLE : HISTORY_RECENT, &history);
        if (err == -ENODATA)
                log_error(&usage->context->log, "nothing was recorded yet; start the service, or run joulecast poll");
        if (err < 0)
                return err;
        history_free(usage->history);
        usage->history = history;
        profile_free(usage->learnt);
        usage->learnt = TAKE_PTR(learnt);
        usage->history_id = profile->id;
        usage->whole = whole;
        return 0;
}

static int read_names(struct joulecast_usage *usage, const struct joulecast_profile *profile)
{
        return usage->names ? 0 : history_read_names(profile->profile, usage->store, usage->uid, &usage->names);
}

int api_usage_history(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *missing,
                      const struct history **ret)
{
        bool whole = missing, is_read = usage->history && usage->history_id == profile->id;
        int err = 0;

        if (whole && !(is_read && usage->whole)) {
                err = read_names(usage, profile);
                if (err == 0 && history_find(usage->names, missing) < 0) {
                        *ret = usage->names;
                        return 0;
                }
        }
        if (err == 0 && (!is_read || (whole && !usage->whole)))
                err = read_history(usage, profile, whole);
        if (err == 0)
                *ret = usage->history;
        return err;
}

int api_answer(struct joulecast_usage *usage, const struct joulecast_profile *profile, api_question question,
               const void *asked, void *ret)
{
        const struct history *history = NULL;
        struct api_missing missing = { 0 };
        const char *seek;
        int err;

        do {
                const struct forecast_battery *battery;

                seek = missing.app;
                missing.app = NULL;
                err = api_usage_history(usage, profile, seek, &history);
                if (!err)
                        err = api_usage_battery(usage, profile, &battery);
                if (!err)
                        err = question(history, asked, battery, &missing, ret);
        } while (err == -ENODATA && missing.app && !seek && history_find(history, missing.app) == -ENOENT);
        return err == -ENODATA && missing.app ? api_not_found(usage, history, missing.app, missing.kinds) : err;
}

JOULECAST_EXPORT int joulecast_app_of_pid(pid_t pid, char *buf, size_t size)
{
        _cleanup_close_ int root_fd = -1;
        _cleanup_(apps_freep) struct apps *apps = NULL;
        char app[APP_ID_MAX];
        int err;

        if (size < JOULECAST_APP_MAX || pid < 0)
                return -EINVAL;
        root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (root_fd < 0)
                return -errno;
        err = apps_new(root_fd, NULL, &apps);
        if (!err)
                err = apps_find_pid(apps, pid == 0 ? getpid() : pid, app);
        if (err)
                return err == -ENODATA ? -ESRCH : err;
        snprintf(buf, size, "%s", app);
        return 0;
}
