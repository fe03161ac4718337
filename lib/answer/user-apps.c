/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user-apps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app-unit.h"
#include "app/app.h"
#include "program.h"
#include "source/proc.h"
#include "util/portable.h"
#include "util/util.h"

#define PIDS_MAX 8 /* in a line that somebody types */

struct running {
        pid_t pid, parent;
        bool own;               /* this user's; other processes are kept only as parents */
        bool desktop;           /* a compositor, a panel, the manager of the session */
        bool ours;              /* this program runs in it */
        char app[APP_ID_MAX];
        char unit[NAME_MAX + 1]; /* the app's unit of the user's manager; "": none */
        bool flatpak;
};

struct user_apps {
        struct running *list;
        size_t n, capacity;
        int proc_fd;
};

static void user_apps_free(struct user_apps *found)
{
        if (!found)
                return;
        if (found->proc_fd >= 0)
                close(found->proc_fd);
        free(found->list);
        free(found);
}

void user_apps_freep(struct user_apps **found)
{
        user_apps_free(*found);
}

/* The app's unit: the last part of a path below a user's manager, such as app-gnome-firefox-1234.scope. */
static void find_unit(int proc_fd, struct running *running)
{
        char name[64], text[4096], path[PATH_MAX];
        const char *unit;
        struct cgroup_app parsed = { .kind = CGROUP_NONE };
        ssize_t length;

        snprintf(name, sizeof(name), "%d/cgroup", (int)running->pid);
        length = util_read_at(proc_fd, name, text, sizeof(text));
        if (length < 0 || app_cgroup_choose_path(text, path, sizeof(path)) < 0 || !strstr(path, "/user@"))
                return;
        unit = strrchr(path, '/') + 1;
        if (strncmp(unit, "app-", 4) != 0 || strlen(unit) > NAME_MAX || !util_only_has(unit, "-_.:@\\") ||
            !app_unit_parse(unit, &parsed) || parsed.kind != CGROUP_APP)
                return;
        snprintf(running->unit, sizeof(running->unit), "%.*s", NAME_MAX, unit);
        running->flatpak = strcmp(parsed.launcher, "flatpak") == 0;
}

static int add_process(struct user_apps *found, struct apps *apps, pid_t pid)
{
        struct app_process process = { .pid = pid };
        char name[64], text[1024];
        struct running *running;
        struct proc_stat stat;
        ssize_t length;
        int err;

        snprintf(name, sizeof(name), "%d/stat", (int)pid);
        length = util_read_at(found->proc_fd, name, text, sizeof(text));
        if (length < 0 || !proc_parse_stat(text, (size_t)length, &stat) || stat.kernel_thread ||
            proc_read_uid(found->proc_fd, pid, &process.uid) < 0)
                return 0; /* it has ended */
        process.ppid = stat.parent;
        process.start_time = stat.start_time;
        process.comm = stat.comm;
        err = util_grow(&found->list, &found->capacity, found->n + 1, sizeof(*found->list));
        if (err < 0)
                return err;
        running = &found->list[found->n];
        *running = (struct running){ .pid = pid, .parent = stat.parent };
        err = apps_find(apps, &process, running->app);
        if (err < 0)
                return err;
        found->n++;
        running->own = process.uid == getuid();
        if (!running->own)
                return 0;
        running->desktop = apps_is_desktop(apps, pid) || strcmp(stat.comm, "systemd") == 0;
        find_unit(found->proc_fd, running);
        return 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
        long one = atol((*a)->d_name), other = atol((*b)->d_name);

        return one < other ? -1 : one > other;
}

static int is_number(const struct dirent *entry)
{
        return isdigit((unsigned char)entry->d_name[0]) != 0;
}

static int list_processes(struct user_apps *found, struct apps *apps)
{
        struct dirent **entries = NULL;
        int n = portable_scandir(found->proc_fd, &entries, is_number, by_number), err = n < 0 ? -errno : 0;

        for (int i = 0; i < n; i++) {
                if (err == 0)
                        err = add_process(found, apps, (pid_t)atol(entries[i]->d_name));
                free(entries[i]);
        }
        free(entries);
        return err;
}

static struct running *find_pid(const struct user_apps *found, pid_t pid)
{
        for (size_t i = 0; i < found->n; i++)
                if (found->list[i].pid == pid)
                        return &found->list[i];
        return NULL;
}

static bool is_of(const struct running *running, const char *app)
{
        return running->own && strcmp(running->app, app) == 0;
}

/* This process, the shell that started it, and the terminal of that. */
static void mark_ours(const struct user_apps *found)
{
        struct running *running = find_pid(found, getpid());

        for (size_t i = 0; running && i < found->n; i++) {
                running->ours = true;
                running = find_pid(found, running->parent);
        }
}

int user_apps_read(struct user_apps **ret)
{
        _cleanup_(user_apps_freep) struct user_apps *found = calloc(1, sizeof(*found));
        _cleanup_(apps_freep) struct apps *apps = NULL;
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        int err;

        if (!found)
                return -ENOMEM;
        found->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (root_fd < 0 || found->proc_fd < 0)
                return -errno;
        err = apps_new(root_fd, NULL, &apps);
        if (err == 0)
                err = list_processes(found, apps);
        if (err < 0)
                return err;
        mark_ours(found);
        *ret = TAKE_PTR(found);
        return 0;
}

/* The unit that has all processes of the app and no other process of the user; NULL: there is none. */
static const char *unit_of(const struct user_apps *found, const char *app)
{
        const char *unit = NULL;

        for (size_t i = 0; i < found->n; i++) {
                const struct running *one = &found->list[i];

                if (!is_of(one, app))
                        continue;
                if (!*one->unit || (unit && strcmp(unit, one->unit) != 0))
                        return NULL;
                unit = one->unit;
        }
        for (size_t i = 0; i < found->n && unit; i++)
                if (strcmp(found->list[i].unit, unit) == 0 && !is_of(&found->list[i], app))
                        return NULL;
        return unit;
}

/* Kills the app's topmost processes alone: the processes that they started mostly end with them. */
static int kill_processes(const struct user_apps *found, const char *app, struct program_words *ret)
{
        size_t n = 0;
        int err = program_words_add(ret, "kill");

        for (size_t i = 0; err == 0 && i < found->n; i++) {
                const struct running *parent = find_pid(found, found->list[i].parent);

                if (!is_of(&found->list[i], app) || (parent && is_of(parent, app)))
                        continue;
                if (n++ < PIDS_MAX)
                        err = program_words_add(ret, "%d", (int)found->list[i].pid);
        }
        if (n > PIDS_MAX) /* no line that somebody would type */
                program_words_clear(ret);
        return err;
}

/* May the app be closed? @flatpak: all of its processes run in a flatpak. */
static bool may_close(const struct user_apps *found, const char *app, bool *flatpak)
{
        bool runs = false;

        *flatpak = true;
        for (size_t i = 0; i < found->n; i++) {
                if (!is_of(&found->list[i], app))
                        continue;
                if (found->list[i].desktop || found->list[i].ours)
                        return false;
                runs = true;
                *flatpak = *flatpak && found->list[i].flatpak;
        }
        return runs;
}

bool user_apps_has(const struct user_apps *found, const char *app)
{
        for (size_t i = 0; i < found->n; i++)
                if (is_of(&found->list[i], app))
                        return true;
        return false;
}

int user_apps_close(const struct user_apps *found, const char *app, struct program_words *ret)
{
        const char *unit = unit_of(found, app);
        struct program_words words = { .n = 0 };
        char called[PATH_MAX];
        bool flatpak;
        int err;

        if (!may_close(found, app, &flatpak))
                return -ENOENT;
        if (flatpak && *app != '-' && util_only_has(app, "-_.") && program_find("flatpak", called, sizeof(called)))
                err = program_words_add_all(&words, (const char *const[]){ called, "kill", app, NULL });
        else if (unit && program_find("systemctl", called, sizeof(called)))
                err = program_words_add_all(&words, (const char *const[]){ called, "--user", "stop", unit, NULL });
        else
                err = kill_processes(found, app, &words);
        if (err)
                program_words_clear(&words);
        else
                *ret = words;
        return err;
}
