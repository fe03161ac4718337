/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limit-name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "joulecast.h"
#include "names.h"
#include "store/store.h"
#include "util/match.h"
#include "util/util.h"

struct candidates {
        struct candidate {
                char app[APP_ID_MAX], name[256];
        } *list;
        size_t n, capacity;
};

static int add(struct candidates *to, const char *app, const char *name)
{
        for (size_t i = 0; i < to->n; i++)
                if (strcmp(to->list[i].app, app) == 0)
                        return 0;
        if (util_grow(&to->list, &to->capacity, to->n + 1, sizeof(*to->list)) < 0)
                return -ENOMEM;
        snprintf(to->list[to->n].app, APP_ID_MAX, "%s", app);
        snprintf(to->list[to->n++].name, sizeof(to->list->name), "%s", name);
        return 0;
}

static int read_units(struct app_units *ret)
{
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(apps_freep) struct apps *apps = NULL;
        int err = root_fd < 0 ? -errno : apps_new(root_fd, NULL, &apps);

        return err ? err : app_units_read(apps, root_fd, getuid(), ret);
}

static int add_running(const struct options *options, struct candidates *to)
{
        struct app_units units = { 0 };
        char name[256];
        int err = read_units(&units);

        for (size_t i = 0; !err && i < units.n; i++)
                err = add(to, units.list[i].app, names_of(options, units.list[i].app, name, sizeof(name)));
        app_units_clear(&units);
        return err;
}

static int on_recorded(void *data, const char *app, const char *name, enum joulecast_state state, double active_s)
{
        (void)state;
        (void)active_s;
        return strcmp(app, STORE_OTHERS) == 0 ? 0 : add(data, app, name);
}

/* Adds the recorded apps. It is no error if nothing is recorded: the running apps are enough. */
static int add_recorded(const struct options *options, struct candidates *to)
{
        struct joulecast_context *context = NULL;
        struct joulecast_usage *usage = NULL;
        int err = joulecast_context_new(&context);

        if (!err && joulecast_context_set_device(context, options->device) == 0 &&
            joulecast_usage_open(context, options->database, &usage) == 0)
                err = joulecast_usage_apps(usage, on_recorded, to);
        joulecast_usage_free(usage);
        joulecast_context_free(context);
        return err == -ENOMEM ? err : 0;
}

/* The nearest, for one that is none of them. NULL: nothing is near. */
static const char *nearest(const struct candidates *candidates, const char *asked)
{
        struct match_near near = { .asked = asked };

        for (size_t i = 0; i < candidates->n; i++) {
                match_near_add(&near, candidates->list[i].app, candidates->list[i].app);
                match_near_add(&near, candidates->list[i].name, candidates->list[i].app);
        }
        return near.found;
}

static int say_none(const struct candidates *candidates, bool limited, const char *asked)
{
        const char *near = nearest(candidates, asked);
        char name[APP_ID_MAX], offer[APP_ID_MAX];

        util_printable(asked, name, sizeof(name));
        if (near)
                log_error(&program_log, "%s is %s; did you mean %s?", name,
                          limited ? "not limited" : "no app that runs or was recorded",
                          util_printable(near, offer, sizeof(offer)));
        else
                log_error(&program_log, "%s is %s; see joulecast %s", name,
                          limited ? "not limited" : "no app that runs or was recorded", limited ? "limit" : "apps");
        return CODE_FAILED;
}

static int say_several(const struct candidates *candidates, enum match how, const char *asked)
{
        char list[512] = "", name[APP_ID_MAX];

        for (size_t i = 0; i < candidates->n; i++) {
                size_t length = strlen(list);

                if (match_app(asked, candidates->list[i].app, candidates->list[i].name) == how)
                        snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "",
                                 candidates->list[i].app);
        }
        log_error(&program_log, "several apps are called %s: %s; say which",
                  util_printable(asked, name, sizeof(name)), list);
        return CODE_FAILED;
}

static int choose(const struct candidates *candidates, bool limited, const char *asked, char *app)
{
        struct match_best best = { 0 };

        for (size_t i = 0; i < candidates->n; i++)
                match_add(&best, match_app(asked, candidates->list[i].app, candidates->list[i].name), i);
        if (best.n == 0)
                return say_none(candidates, limited, asked);
        if (best.n > 1)
                return say_several(candidates, best.how, asked);
        snprintf(app, APP_ID_MAX, "%s", candidates->list[best.index].app);
        return CODE_OK;
}

int limit_name_find(const struct options *options, const struct limit_wishes *wishes, bool limited,
                    const char *asked, char *app)
{
        struct candidates candidates = { 0 };
        char name[256];
        int err = 0, code;

        for (size_t i = 0; !err && i < wishes->n; i++)
                err = add(&candidates, wishes->list[i].app, names_of(options, wishes->list[i].app, name, sizeof(name)));
        if (!err && !limited)
                err = add_running(options, &candidates);
        if (!err && !limited)
                err = add_recorded(options, &candidates);
        if (err)
                log_error(&program_log, "the apps cannot be listed: %s", strerror(-err));
        code = err ? CODE_FAILED : choose(&candidates, limited, asked, app);
        free(candidates.list);
        return code;
}

static int refuse(const struct app_unit *unit)
{
        switch (unit->trouble) {
        case UNIT_DESKTOP:
                log_error(&program_log, "%s is part of the desktop, which is never limited", unit->app);
                return CODE_FAILED;
        case UNIT_SHARED:
                log_error(&program_log, "%s shares the unit %s with %s, so that it cannot be limited alone; "
                          "start it from the desktop's menu", unit->app, unit->unit, unit->other);
                return CODE_FAILED;
        case UNIT_NOT_APPS:
                log_error(&program_log,
                          "%s is not in a unit of its own below app.slice but in %s, so that "
                          "it cannot be limited alone; start it from the desktop's menu",
                          unit->app, *unit->unit ? unit->unit : "none");
                return CODE_FAILED;
        default:
                return CODE_OK;
        }
}

int limit_name_check(const char *app, bool *runs)
{
        struct app_units units = { 0 };
        int err = read_units(&units), code = CODE_OK;

        *runs = false;
        if (err) {
                log_error(&program_log, "the processes cannot be read: %s", strerror(-err));
                return CODE_FAILED;
        }
        for (size_t i = 0; code == CODE_OK && i < units.n; i++)
                if (strcmp(units.list[i].app, app) == 0) {
                        *runs = true;
                        code = refuse(&units.list[i]);
                }
        app_units_clear(&units);
        if (code == CODE_OK && !*runs && (strncmp(app, "sys:", 4) == 0 || strncmp(app, "usr:", 4) == 0)) {
                log_error(&program_log, "%s is a service; only apps can be limited", app);
                return CODE_FAILED;
        }
        return code;
}
