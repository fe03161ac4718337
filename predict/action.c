/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "action.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app-unit.h"
#include "app/app.h"
#include "source/display.h"
#include "source/proc.h"
#include "util/text.h"
#include "util/util.h"

#define PIDS_MAX 8 /* in a line that somebody types */

struct running {
        pid_t pid, parent;
        bool desktop;           /* a compositor, a panel */
        bool ours;              /* this program runs in it */
        char app[APP_ID_MAX];
        char unit[NAME_MAX + 1]; /* of an app, of the user's manager; "": none */
        bool flatpak;
};

struct actions {
        struct running *list;
        size_t n, capacity;
        int proc_fd;
};

static void action_list_free(struct actions *actions)
{
        if (!actions)
                return;
        if (actions->proc_fd >= 0)
                close(actions->proc_fd);
        free(actions->list);
        free(actions);
}

void action_list_freep(struct actions **actions)
{
        action_list_free(*actions);
}

static bool only_has(const char *text, const char *letters)
{
        for (; *text; text++)
                if (!isalnum((unsigned char)*text) && !strchr(letters, *text))
                        return false;
        return true;
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
        if (strncmp(unit, "app-", 4) != 0 || strlen(unit) > NAME_MAX || !only_has(unit, "-_.:@\\") ||
            !app_unit_parse(unit, &parsed) || parsed.kind != CGROUP_APP)
                return;
        snprintf(running->unit, sizeof(running->unit), "%.*s", NAME_MAX, unit);
        running->flatpak = strcmp(parsed.launcher, "flatpak") == 0;
}

static int add_process(struct actions *actions, struct apps *apps, pid_t pid)
{
        struct app_process process = { .pid = pid };
        char name[64], text[1024];
        struct running *running;
        struct proc_stat stat;
        ssize_t length;
        int err;

        snprintf(name, sizeof(name), "%d/stat", (int)pid);
        length = util_read_at(actions->proc_fd, name, text, sizeof(text));
        if (length < 0 || !proc_parse_stat(text, (size_t)length, &stat) || stat.kernel_thread ||
            proc_read_uid(actions->proc_fd, pid, &process.uid) < 0)
                return 0; /* it has ended */
        process.ppid = stat.parent;
        process.start_time = stat.start_time;
        process.comm = stat.comm;
        err = util_grow(&actions->list, &actions->capacity, actions->n + 1, sizeof(*actions->list));
        if (err < 0)
                return err;
        running = &actions->list[actions->n];
        *running = (struct running){ .pid = pid, .parent = stat.parent };
        err = apps_find(apps, &process, running->app);
        if (err < 0 || process.uid != getuid())
                return err; /* others are read as parents only */
        running->desktop = apps_is_desktop(apps, pid);
        find_unit(actions->proc_fd, running);
        actions->n++;
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

static int list_processes(struct actions *actions, struct apps *apps)
{
        struct dirent **entries = NULL;
        int n = scandirat(actions->proc_fd, ".", &entries, is_number, by_number), err = n < 0 ? -errno : 0;

        for (int i = 0; i < n; i++) {
                if (err == 0)
                        err = add_process(actions, apps, (pid_t)atol(entries[i]->d_name));
                free(entries[i]);
        }
        free(entries);
        return err;
}

static struct running *find_pid(const struct actions *actions, pid_t pid)
{
        for (size_t i = 0; i < actions->n; i++)
                if (actions->list[i].pid == pid)
                        return &actions->list[i];
        return NULL;
}

/* This process, the shell that started it, and the terminal of that. */
static void mark_ours(const struct actions *actions)
{
        struct running *running = find_pid(actions, getpid());

        for (size_t i = 0; running && i < actions->n; i++) {
                running->ours = true;
                running = find_pid(actions, running->parent);
        }
}

int action_list(struct actions **ret)
{
        _cleanup_(action_list_freep) struct actions *actions = calloc(1, sizeof(*actions));
        _cleanup_(apps_freep) struct apps *apps = NULL;
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        int err;

        if (!actions)
                return -ENOMEM;
        actions->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (root_fd < 0 || actions->proc_fd < 0)
                return -errno;
        err = apps_new(root_fd, NULL, &apps);
        if (err == 0)
                err = list_processes(actions, apps);
        if (err < 0)
                return err;
        mark_ours(actions);
        *ret = TAKE_PTR(actions);
        return 0;
}

static bool can_run(const char *folder, size_t length, const char *program, char *path, size_t size)
{
        return snprintf(path, size, "%.*s/%s", (int)length, folder, program) < (int)size && access(path, X_OK) == 0;
}

/* How to call a program: by its name, or its path where a shell would not find it. False: this machine has none. */
static bool has_program(const char *program, char *called, size_t size)
{
        static const char *const folders[] = { "/usr/sbin", "/sbin" };
        const char *path = getenv("PATH");

        for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
                size_t length = strcspn(at, ":");

                if (length > 0 && can_run(at, length, program, called, size)) {
                        snprintf(called, size, "%s", program);
                        return true;
                }
                at += length + (at[length] == ':');
        }
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
                if (can_run(folders[i], strlen(folders[i]), program, called, size))
                        return true;
        return false;
}

static int __attribute__((format(printf, 2, 3))) say(char **ret, const char *format, ...)
{
        va_list arguments;
        int length;

        va_start(arguments, format);
        length = vasprintf(ret, format, arguments);
        va_end(arguments);
        if (length < 0)
                *ret = NULL;
        return length < 0 ? -ENOMEM : 0;
}

/* By logind, which lets the user of an active session do so. */
static int by_logind(double percent, const char *busctl, char **ret)
{
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct display_state display;

        if (root_fd < 0 || display_look(root_fd, &display) < 0 || !*display.backlight || display.max_brightness == 0 ||
            !only_has(display.backlight, "-_.:"))
                return 0;
        return say(ret, "%s call org.freedesktop.login1 /org/freedesktop/login1/session/auto "
                        "org.freedesktop.login1.Session SetBrightness ssu backlight %s %.0f", busctl, display.backlight,
                   round(display.max_brightness * percent / 100));
}

static int set_brightness(double percent, char **ret)
{
        char called[PATH_MAX];

        if (has_program("brightnessctl", called, sizeof(called)))
                return say(ret, "%s set %.0f%%", called, percent);
        return has_program("busctl", called, sizeof(called)) ? by_logind(percent, called, ret) : 0;
}

static int switch_off(const char *for_nmcli, const char *for_rfkill, char **ret)
{
        char called[PATH_MAX];

        if (has_program("nmcli", called, sizeof(called)))
                return say(ret, "%s radio %s off", called, for_nmcli);
        return has_program("rfkill", called, sizeof(called)) ? say(ret, "%s block %s", called, for_rfkill) : 0;
}

/* The unit that has all processes of the app and no other of the user's; NULL: there is none. */
static const char *unit_of(const struct actions *actions, const char *app)
{
        const char *unit = NULL;

        for (size_t i = 0; i < actions->n; i++) {
                const struct running *one = &actions->list[i];

                if (strcmp(one->app, app) != 0)
                        continue;
                if (!*one->unit || (unit && strcmp(unit, one->unit) != 0))
                        return NULL;
                unit = one->unit;
        }
        for (size_t i = 0; i < actions->n && unit; i++)
                if (strcmp(actions->list[i].unit, unit) == 0 && strcmp(actions->list[i].app, app) != 0)
                        return NULL;
        return unit;
}

/* Its first processes; those that they have started end with them, or were started for it. */
static int kill_processes(const struct actions *actions, const char *app, char **ret)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        size_t n = 0;

        if (!stream)
                return -ENOMEM;
        fprintf(stream, "kill");
        for (size_t i = 0; i < actions->n; i++) {
                const struct running *parent = find_pid(actions, actions->list[i].parent);

                if (strcmp(actions->list[i].app, app) != 0 || (parent && strcmp(parent->app, app) == 0))
                        continue;
                if (n++ < PIDS_MAX)
                        fprintf(stream, " %d", (int)actions->list[i].pid);
        }
        *ret = text_close(stream, &kept);
        if (*ret && n > PIDS_MAX) { /* no line that somebody would type */
                free(*ret);
                *ret = NULL;
                return 0;
        }
        return *ret ? 0 : -ENOMEM;
}

static int close_app(const struct actions *actions, const char *app, char **ret)
{
        const char *unit = unit_of(actions, app);
        char called[PATH_MAX];
        bool runs = false, flatpak = true;

        for (size_t i = 0; i < actions->n; i++) {
                if (strcmp(actions->list[i].app, app) != 0)
                        continue;
                if (actions->list[i].desktop || actions->list[i].ours)
                        return -ENOENT;
                runs = true;
                flatpak = flatpak && actions->list[i].flatpak;
        }
        if (!runs)
                return -ENOENT;
        if (flatpak && only_has(app, "-_.") && has_program("flatpak", called, sizeof(called)))
                return say(ret, "%s kill %s", called, app);
        if (unit && has_program("systemctl", called, sizeof(called)))
                return say(ret, "%s --user stop '%s'", called, unit);
        return kill_processes(actions, app, ret);
}

int action_find(const struct actions *actions, const struct advice *advice, char **ret)
{
        *ret = NULL;
        switch (advice->kind) {
        case ADVICE_CLOSE:
                return close_app(actions, advice->app, ret);
        case ADVICE_BRIGHTNESS:
                return set_brightness(advice->brightness_percent, ret);
        case ADVICE_WIFI:
                return switch_off("wifi", "wifi", ret);
        case ADVICE_CELLULAR:
                return switch_off("wwan", "wwan", ret);
        default:
                return -ENOENT;
        }
}
