/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-units.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "app-private.h"
#include "util/util.h"

void app_units_clear(struct app_units *units)
{
        free(units->list);
        free(units->processes);
        *units = (struct app_units){ 0 };
}

static bool is_unit(const char *word, size_t length)
{
        return (length > 6 && strncmp(word + length - 6, ".scope", 6) == 0) ||
               (length > 8 && strncmp(word + length - 8, ".service", 8) == 0);
}

/*
 * ".../user@1000.service/app.slice/app-foo.slice/app-foo-1.scope/x": "app-foo-1.scope". A unit may have
 * groups of its own.
 */
bool app_units_parse(const char *path, char *unit, bool *below_apps)
{
        bool found = false;

        *below_apps = false;
        for (const char *word = path; *word; word += strcspn(word, "/")) {
                size_t length;

                word += strspn(word, "/");
                length = strcspn(word, "/");
                if (strncmp(word, "app.slice", length) == 0 && length == 9) {
                        *below_apps = true;
                        found = false;
                } else if (is_unit(word, length) && length < APP_UNIT_MAX && !(*below_apps && found)) {
                        snprintf(unit, APP_UNIT_MAX, "%.*s", (int)length, word);
                        found = true;
                }
        }
        return found;
}

int app_units_of_process(int root_fd, pid_t pid, char *unit, bool *below_apps)
{
        char path[4096];
        int err = app_process_read_cgroup(root_fd, pid, path, sizeof(path));

        if (err)
                return err;
        return app_units_parse(path, unit, below_apps) ? 0 : -ENODATA;
}

static enum app_unit_trouble trouble_of(struct apps *apps, pid_t pid, const char *unit, bool below_apps)
{
        struct cgroup_app parsed;

        if (apps_is_desktop(apps, pid))
                return UNIT_DESKTOP;
        return below_apps && app_unit_parse(unit, &parsed) ? UNIT_FINE : UNIT_NOT_APPS;
}

static int find(struct app_units *units, const char *unit, const char *app, size_t *ret)
{
        for (size_t i = 0; i < units->n; i++)
                if (strcmp(units->list[i].unit, unit) == 0 && strcmp(units->list[i].app, app) == 0) {
                        *ret = i;
                        return 0;
                }
        if (util_grow(&units->list, &units->capacity, units->n + 1, sizeof(*units->list)) < 0)
                return -ENOMEM;
        units->list[units->n] = (struct app_unit){ .trouble = UNIT_FINE };
        snprintf(units->list[units->n].unit, APP_UNIT_MAX, "%s", unit);
        snprintf(units->list[units->n].app, APP_ID_MAX, "%s", app);
        *ret = units->n++;
        return 0;
}

static int add_process(struct apps *apps, int root_fd, pid_t pid, struct app_units *units)
{
        struct app_process process;
        char comm[32], app[APP_ID_MAX], unit[APP_UNIT_MAX] = "";
        enum app_unit_trouble trouble;
        struct app_unit *found;
        bool below_apps = false;
        size_t at;

        if (app_process_read(root_fd, pid, &process, comm, sizeof(comm)) < 0)
                return 0; /* it has ended */
        if (apps_find(apps, &process, app) < 0)
                return -ENOMEM;
        if (app_units_of_process(root_fd, pid, unit, &below_apps) < 0)
                unit[0] = '\0';
        trouble = trouble_of(apps, pid, unit, below_apps);
        if (find(units, unit, app, &at) < 0 ||
            util_grow(&units->processes, &units->processes_capacity, units->n_processes + 1,
                      sizeof(*units->processes)) < 0)
                return -ENOMEM;
        found = &units->list[at];
        if (trouble != UNIT_FINE && (found->trouble == UNIT_FINE || trouble < found->trouble))
                found->trouble = trouble;
        units->processes[units->n_processes++] = (struct app_unit_process){ .pid = pid, .at = at };
        return 0;
}

/* One process of the desktop, or of another app, forbids the unit for all of them. */
static void mark_shared(struct app_units *units)
{
        for (size_t i = 0; i < units->n; i++)
                for (size_t k = 0; k < units->n; k++) {
                        struct app_unit *one = &units->list[i];
                        const struct app_unit *other = &units->list[k];

                        if (i == k || strcmp(one->unit, other->unit) != 0)
                                continue;
                        snprintf(one->other, sizeof(one->other), "%s", other->app);
                        if (other->trouble == UNIT_DESKTOP)
                                one->trouble = UNIT_DESKTOP;
                        else if (one->trouble == UNIT_FINE)
                                one->trouble = UNIT_SHARED;
                }
}

int app_units_read(struct apps *apps, int root_fd, uid_t uid, struct app_units *ret)
{
        struct app_units units = { 0 };
        _cleanup_closedir_ DIR *folder = util_opendir_at(root_fd, "proc");
        const struct dirent *entry;
        struct stat status;
        int err = 0;

        if (!folder)
                return -errno;
        while (!err && (entry = readdir(folder))) {
                char *end;
                long pid = strtol(entry->d_name, &end, 10);

                if (*end || pid <= 0 || pid > INT32_MAX || fstatat(dirfd(folder), entry->d_name, &status, 0) < 0 ||
                    status.st_uid != uid)
                        continue;
                err = add_process(apps, root_fd, (pid_t)pid, &units);
        }
        apps_sweep(apps);
        if (err) {
                app_units_clear(&units);
                return err;
        }
        mark_shared(&units);
        app_units_clear(ret);
        *ret = units;
        return 0;
}
