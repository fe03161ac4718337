/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

/* Waydroid's windows have the id "waydroid.PACKAGE", and argv[0] of the app's processes is the package. */
static bool android_package(struct apps *apps, const char *package, char *ret)
{
        for (const struct app_entry *entry = apps->entries; entry; entry = entry->hh.next) {
                char words[256];

                if (!app_after(entry->app, "android:") ||
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

/* May a window change the app of this process? Not that of sandboxes, nor of a unit's first process. */
static bool may_correct(const struct apps *apps, const struct app_entry *entry)
{
        const struct app_entry *parent = app_entry_find(apps, entry->ppid);

        switch (entry->cgroup->parsed.kind) {
        case CGROUP_APP:
        case CGROUP_USER:
                return !entry->sandboxed && parent && parent->cgroup == entry->cgroup;
        case CGROUP_NONE:
        case CGROUP_SESSION:
        case CGROUP_SPAWN:
                return !entry->sandboxed;
        default:
                return false;
        }
}

static void correct(struct apps *apps, struct app_entry *entry, const char *app)
{
        snprintf(entry->app, sizeof(entry->app), "%s", app);
        entry->corrected = entry->own = true;
        apps->corrections++;
        app_look_again(apps, entry); /* the others may be descendants */
}

/* 0; -ENODATA: there is no such process; -ENOMEM. */
static int find_process(struct apps *apps, pid_t pid, uint64_t start_time, struct app_entry **ret)
{
        struct app_process process;
        char comm[32], app[APP_ID_MAX];
        int err;

        if (pid <= 0 || app_process_read(apps->root_fd, pid, &process, comm, sizeof(comm)) < 0 ||
            (start_time && process.start_time != start_time))
                return -ENODATA;
        err = apps_find(apps, &process, app);
        if (err)
                return err;
        *ret = app_entry_find(apps, pid);
        return 0;
}

int apps_find_pid(struct apps *apps, pid_t pid, char *ret)
{
        struct app_entry *entry = NULL;
        int err = find_process(apps, pid, 0, &entry);

        if (!err)
                snprintf(ret, APP_ID_MAX, "%s", entry->app);
        return err;
}

/*
 * Can a window give this process the name of its desktop entry? Not that of a document or web app, which starts the
 * program with arguments: the program has other windows, too; nor that of a program in a terminal, unless Steam
 * started the terminal itself.
 */
static bool renames(struct apps *apps, const struct app_window *window, const struct app_entry *process)
{
        const struct desktop_entry *entry = window->entry;

        if (!*window->app || app_after(process->app, "steam:") ||
            (process->lead == LEAD_TERMINAL && !app_after(window->app, "steam:")) ||
            app_window_fit(apps, window, process->app) >= APP_FIT_WORDS || !may_correct(apps, process))
                return false;
        return !entry || entry->plain || (entry->program && strcmp(entry->program, process->comm) == 0 &&
                                          desktop_by_program(app_index(apps), process->comm) == entry);
}

static void by_process(struct apps *apps, struct app_entry *process, const char *app_id, char *ret)
{
        struct app_window window;

        app_window_read(apps, app_id, &window);
        if (renames(apps, &window, process))
                correct(apps, process, window.app);
        snprintf(ret, APP_ID_MAX, "%s", process->app);
}

int apps_find_window(struct apps *apps, pid_t pid, uint64_t start_time, const char *app_id, char *ret)
{
        const char *package = app_after(app_id, "waydroid.");
        struct app_entry *entry = NULL;
        int err;

        if (package && android_package(apps, package, ret))
                return 0;
        err = find_process(apps, pid, start_time, &entry);
        if (!err && !app_is_bridge(entry))
                by_process(apps, entry, app_id, ret);
        else if (!err || err == -ENODATA)
                err = app_match_window(apps, app_id, APP_FIT_PART, ret) ? 0 : -ENODATA;
        return err;
}

int apps_find_front(struct apps *apps, const char *app_id, char *ret)
{
        return app_match_window(apps, app_id, APP_FIT_WORDS, ret) ? 0 : -ENODATA;
}

bool apps_is_bridge(struct apps *apps, pid_t pid)
{
        struct app_entry *entry = NULL;

        return find_process(apps, pid, 0, &entry) == 0 && app_is_bridge(entry);
}

bool apps_is_desktop(struct apps *apps, pid_t pid)
{
        struct app_entry *entry = NULL;

        return find_process(apps, pid, 0, &entry) == 0 && entry->lead == LEAD_DESKTOP;
}

char *app_name(const struct desktop_index *index, const char *app, char *buf, size_t size)
{
        static const char *const prefixes[] = { "sys:", "usr:", "ctr:", "snap:", "android:" };
        const struct desktop_entry *entry = desktop_by_id(index, app);
        const char *rest = app, *snap = app_after(app, "snap:");
        char id[2 * APP_ID_MAX];
        unsigned number;

        if (snap) {
                snprintf(id, sizeof(id), "%s_%s", snap, snap);
                entry = desktop_by_id(index, id);
        }
        if (entry && entry->name && *entry->name) {
                util_printable(entry->name, buf, size);
                return buf;
        }
        for (size_t i = 0; i < ARRAY_SIZE(prefixes) && rest == app; i++)
                if (app_after(app, prefixes[i]))
                        rest = app_after(app, prefixes[i]);
        if (sscanf(app, "steam:%10u", &number) == 1 && desktop_steam_name(index, number, buf, size))
                return buf;
        if (app_after(app, "steam:"))
                snprintf(buf, size, "Steam app %s", app_after(app, "steam:"));
        else if (app_after(app, "android:"))
                snprintf(buf, size, "Android app %s", rest);
        else
                util_printable(rest, buf, size);
        return buf;
}
