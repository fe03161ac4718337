/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "util/util.h"

static const char *after(const char *text, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* The app that a window's id names, independent of its process. */
static void canonical(struct apps *apps, const char *app_id, char *ret)
{
        const char *number = after(app_id, "steam_app_");
        const struct desktop_entry *entry;

        if (number && *number && number[strspn(number, "0123456789")] == '\0' && strlen(number) <= 10) {
                snprintf(ret, APP_ID_MAX, "steam:%s", number);
                return;
        }
        entry = desktop_by_window(app_index(apps), app_id);
        if (entry)
                app_desktop_id(entry, ret);
        else
                util_printable(app_id, ret, APP_ID_MAX);
}

/* Is a window's id another name of this app? */
static bool same(struct apps *apps, const char *app, const char *app_id)
{
        const char *snap = after(app, "snap:");
        const struct desktop_entry *entry;
        char id[APP_ID_MAX];

        canonical(apps, app_id, id);
        if (strcasecmp(app, app_id) == 0 || strcasecmp(app, id) == 0)
                return true;
        if (snap)
                return strncasecmp(app_id, snap, strlen(snap)) == 0 && strchr("_.", app_id[strlen(snap)]);
        if (strchr(app, ':'))
                return false;
        entry = desktop_by_id(app_index(apps), app);
        if (entry && ((entry->class && strcasecmp(entry->class, app_id) == 0) ||
                      (entry->program && strcasecmp(entry->program, app_id) == 0)))
                return true;
        /* "com.slack.Slack" and "Slack" are the same, unless a desktop entry exists for the latter. */
        return !desktop_by_window(app_index(apps), app_id) && strcasecmp(desktop_last_part(app), desktop_last_part(app_id)) == 0;
}

/* Waydroid's windows have the id "waydroid.PACKAGE", and argv[0] of the app's processes is the package. */
static bool android_package(struct apps *apps, const char *package, char *ret)
{
        for (const struct app_entry *entry = apps->entries; entry; entry = entry->hh.next) {
                char words[256];

                if (!after(entry->app, "android:") ||
                    app_process_read_words(apps->root_fd, entry->pid, "cmdline", words, sizeof(words)) <= 0)
                        continue;
                words[strcspn(words, ":")] = '\0'; /* "package:service" */
                if (strcmp(words, package) == 0) {
                        snprintf(ret, APP_ID_MAX, "%s", entry->app);
                        return true;
                }
        }
        return false;
}

static void by_id_only(struct apps *apps, const char *app_id, char *ret)
{
        const struct app_entry *found = NULL;
        char id[APP_ID_MAX];

        canonical(apps, app_id, id);
        for (const struct app_entry *entry = apps->entries; entry; entry = entry->hh.next) {
                if (strcmp(entry->app, id) == 0) {
                        found = entry;
                        break;
                }
                if (!found && same(apps, entry->app, app_id))
                        found = entry;
        }
        snprintf(ret, APP_ID_MAX, "%s", found ? found->app : id);
}

/* May a window change the app of this process? Not that of sandboxes, nor of a unit's first process. */
static bool may_correct(struct apps *apps, const struct app_entry *entry, const char *app_id)
{
        const struct app_entry *parent = app_entry_find(apps, entry->ppid);

        switch (entry->cgroup->parsed.kind) {
        case CGROUP_APP:
        case CGROUP_USER:
                return !entry->sandboxed && parent && parent->cgroup == entry->cgroup;
        case CGROUP_NONE:
        case CGROUP_SESSION:
        case CGROUP_SPAWN:
                if (entry->sandboxed)
                        return false;
                return after(app_id, "steam_app_") || desktop_by_window(app_index(apps), app_id) ||
                       (parent && parent->cgroup == entry->cgroup && strcmp(parent->app, entry->app) == 0);
        default:
                return false;
        }
}

static void correct(struct apps *apps, struct app_entry *entry, const char *app)
{
        snprintf(entry->app, sizeof(entry->app), "%s", app);
        entry->corrected = entry->own = true;
        apps->corrections++;
        for (struct app_entry *at = apps->entries; at; at = at->hh.next)
                if (at->cgroup == entry->cgroup && !at->corrected) {
                        at->looks = MIN(at->looks, 1); /* it may be a descendant: look again */
                        at->look_sweep = apps->sweep - 1;
                        at->again = true;
                }
}

int apps_find_window(struct apps *apps, pid_t pid, uint64_t start_time, const char *app_id, char *ret)
{
        const char *package = after(app_id, "waydroid.");
        struct app_process process;
        struct app_entry *entry;
        char comm[32], app[APP_ID_MAX];
        int err;

        if (package && android_package(apps, package, ret))
                return 0;
        if (pid <= 0 || app_process_read(apps->root_fd, pid, &process, comm, sizeof(comm)) < 0 ||
            (start_time && process.start_time != start_time)) {
                if (!*app_id)
                        return -ENODATA;
                by_id_only(apps, app_id, ret);
                return 0;
        }
        err = apps_find(apps, &process, app);
        if (err)
                return err;
        entry = app_entry_find(apps, pid);
        if (entry && *app_id && !strstr(app, "steam:") && !same(apps, app, app_id) &&
            may_correct(apps, entry, app_id)) {
                canonical(apps, app_id, app);
                correct(apps, entry, app);
        }
        snprintf(ret, APP_ID_MAX, "%s", app);
        return 0;
}

bool apps_is_desktop(struct apps *apps, pid_t pid)
{
        struct app_entry entry = { .pid = pid };
        struct app_process process;

        return app_process_read(apps->root_fd, pid, &process, entry.comm, sizeof(entry.comm)) == 0 &&
               app_lead_of(apps->root_fd, &entry) == LEAD_DESKTOP;
}

char *app_name(const struct desktop_index *index, const char *app, char *buf, size_t size)
{
        static const char *const prefixes[] = { "sys:", "usr:", "ctr:", "snap:", "android:" };
        const struct desktop_entry *entry = desktop_by_id(index, app);
        const char *rest = app, *snap = after(app, "snap:");
        char id[2 * APP_ID_MAX];

        if (snap) {
                snprintf(id, sizeof(id), "%s_%s", snap, snap);
                entry = desktop_by_id(index, id);
        }
        if (entry && entry->name && *entry->name) {
                util_printable(entry->name, buf, size);
                return buf;
        }
        for (size_t i = 0; i < ARRAY_SIZE(prefixes) && rest == app; i++)
                if (after(app, prefixes[i]))
                        rest = after(app, prefixes[i]);
        if (after(app, "steam:"))
                snprintf(buf, size, "Steam app %s", after(app, "steam:"));
        else if (after(app, "android:"))
                snprintf(buf, size, "Android app %s", rest);
        else
                util_printable(rest, buf, size);
        return buf;
}
