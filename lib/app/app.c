/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/util.h"

#define ANCESTORS_MAX 64 /* no desktop has longer chains of forks */
#define ANDROID_USER 100000 /* uids per Android user */

/* Read at the first use: apps_new() reads nothing that users may have written. */
const struct desktop_index *app_index(struct apps *apps)
{
        if (!apps->read)
                desktop_index_refresh(apps->index);
        apps->read = true;
        return apps->index;
}

/* Tries as desktop entry: the parsed id, the id without ".desktop", the id with its launcher. */
static void unit_id(struct apps *apps, const struct cgroup_app *parsed, char *ret)
{
        const struct desktop_index *index = app_index(apps);
        const struct desktop_entry *entry = desktop_by_id(index, parsed->id);
        size_t length = strlen(parsed->id);
        char id[APP_ID_MAX];
        unsigned number;

        snprintf(id, sizeof(id), "%s", parsed->id);
        if (!entry && length > 8 && strcmp(id + length - 8, ".desktop") == 0) {
                id[length - 8] = '\0';
                entry = desktop_by_id(index, id);
        }
        if (!entry && parsed->launcher[0])
                entry = desktop_by_id(index, parsed->whole);
        if (entry)
                snprintf(ret, APP_ID_MAX, "%s", entry->id);
        else if (strcmp(parsed->launcher, "steam") == 0 && sscanf(parsed->id, "app%10u", &number) == 1)
                snprintf(ret, APP_ID_MAX, "steam:%u", number);
        else if (parsed->launcher[0] && !app_unit_launcher_known(parsed->launcher))
                snprintf(ret, APP_ID_MAX, "%s", parsed->whole);
        else
                snprintf(ret, APP_ID_MAX, "%s", parsed->id);
}

void app_cgroup_read(struct apps *apps, const char *path, struct app_cgroup *cgroup)
{
        app_cgroup_parse(path, &cgroup->parsed);
        snprintf(cgroup->id, sizeof(cgroup->id), "%s", cgroup->parsed.id);
        if (cgroup->parsed.kind == CGROUP_APP ||
            (cgroup->parsed.kind == CGROUP_SPAWN && cgroup->parsed.id[0]))
                unit_id(apps, &cgroup->parsed, cgroup->id);
        cgroup->launcher = cgroup->parsed.kind == CGROUP_APP && app_lead_is_launcher(cgroup->id);
}

static struct app_cgroup *get_cgroup(struct apps *apps, const char *path)
{
        struct app_cgroup *cgroup;

        HASH_FIND_STR(apps->cgroups, path, cgroup);
        if (cgroup)
                return cgroup;
        cgroup = calloc(1, sizeof(*cgroup));
        if (!cgroup)
                return NULL;
        cgroup->path = strdup(path);
        if (cgroup->path)
                HASH_ADD_KEYPTR(hh, apps->cgroups, cgroup->path, strlen(path), cgroup);
        if (!HASH_HAS(cgroup)) {
                free(cgroup->path);
                free(cgroup);
                return NULL;
        }
        app_cgroup_read(apps, path, cgroup);
        return cgroup;
}

struct app_entry *app_entry_find(const struct apps *apps, pid_t pid)
{
        struct app_entry *entry;

        HASH_FIND_INT(apps->entries, &pid, entry);
        return entry;
}

static void let_go(struct apps *apps, struct app_cgroup *cgroup)
{
        if (!cgroup || --cgroup->n_entries > 0)
                return;
        HASH_DEL(apps->cgroups, cgroup);
        free(cgroup->path);
        free(cgroup);
}

static void move_to(struct apps *apps, struct app_entry *entry, struct app_cgroup *cgroup)
{
        cgroup->n_entries++;
        let_go(apps, entry->cgroup);
        entry->cgroup = cgroup;
}

static void free_entry(struct apps *apps, struct app_entry *entry)
{
        HASH_DEL(apps->entries, entry);
        let_go(apps, entry->cgroup);
        free(entry);
}

void apps_free(struct apps *apps)
{
        if (!apps)
                return;
        while (apps->entries)
                free_entry(apps, apps->entries);
        desktop_index_free(apps->index);
        closep(&apps->root_fd);
        free(apps);
}

void apps_freep(struct apps **apps)
{
        apps_free(*apps);
}

int apps_new(int root_fd, struct desktop_index *index, struct apps **ret)
{
        _cleanup_(apps_freep) struct apps *apps = calloc(1, sizeof(*apps));
        int err;

        if (!apps) {
                desktop_index_free(index);
                return -ENOMEM;
        }
        apps->index = index;
        apps->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (apps->root_fd < 0)
                return -errno;
        if (!index) {
                err = desktop_index_open(root_fd, NULL, NULL, &apps->index);
                if (err)
                        return err;
        }
        *ret = TAKE_PTR(apps);
        return 0;
}

void apps_set_exe(struct apps *apps, struct app_exe exe)
{
        apps->exe = exe;
}

static bool needs_look(const struct apps *apps, const struct app_entry *entry)
{
        return entry->looks == 0 || (entry->looks == 1 && !entry->corrected &&
                                     entry->look_sweep != apps->sweep);
}

void app_desktop_id(const struct desktop_entry *entry, char *ret)
{
        char id[APP_ID_MAX];

        util_printable(entry->id, id, sizeof(id) - 8);
        if (entry->snap)
                snprintf(ret, APP_ID_MAX, "snap:%.*s", (int)MIN(strcspn(id, "_"), (size_t)120), id);
        else
                snprintf(ret, APP_ID_MAX, "%s", id);
}

/* Without a unit: the desktop entry that starts this program, else the program. */
static void program_id(struct apps *apps, struct app_entry *entry)
{
        const struct desktop_entry *desktop = NULL;
        char program[256];

        if (app_process_read_script(apps->root_fd, entry, program, sizeof(program)))
                desktop = desktop_by_program(app_index(apps), program);
        if (!desktop) {
                app_process_read_program(apps, entry, program, sizeof(program));
                desktop = desktop_by_program(app_index(apps), program);
        }
        if (desktop)
                app_desktop_id(desktop, entry->app);
        else
                util_printable(program, entry->app, sizeof(entry->app));
}

static void set_app(struct app_entry *entry, const char *app)
{
        if (entry->app != app)
                snprintf(entry->app, sizeof(entry->app), "%s", app);
}

/* Apps in the unit of the compositor or launcher that started them. */
static void classify_unit(struct apps *apps, struct app_entry *entry, const struct app_entry *parent,
                          bool together)
{
        if (together && parent->top) {
                set_app(entry, parent->app);
                entry->top = true;
        } else if (together && parent->lead == LEAD_DESKTOP && entry->lead != LEAD_DESKTOP) {
                program_id(apps, entry);
                entry->top = true;
        } else {
                set_app(entry, entry->cgroup->id);
                if (entry->cgroup->launcher && !together)
                        entry->lead = LEAD_DESKTOP;
        }
}

/*
 * Without control groups each program is an app, except helpers of a classified app. The process tree would be a
 * worse guess: all that an init script starts is one tree.
 */
static void classify_bare(struct apps *apps, struct app_entry *entry, const struct app_entry *parent)
{
        enum cgroup_kind above = parent ? parent->cgroup->parsed.kind : CGROUP_NONE;

        if (entry->pid == 1)
                set_app(entry, "sys:init");
        else if (above != CGROUP_NONE && above != CGROUP_SESSION)
                set_app(entry, parent->app);
        else
                program_id(apps, entry);
}

/* In the scope of a session or terminal: the topmost ancestor below the leader. */
static void classify_session(struct apps *apps, struct app_entry *entry, const struct app_entry *parent,
                             bool together)
{
        if (entry->lead == LEAD_SHELL && entry->cgroup->id[0])
                set_app(entry, entry->cgroup->id);
        else if (entry->lead > LEAD_SHELL || (together && parent->lead && !entry->lead))
                program_id(apps, entry);
        else if (together && !parent->lead)
                set_app(entry, parent->app);
        else
                program_id(apps, entry);
}

bool app_of_cgroup(const struct app_cgroup *cgroup, uid_t uid, char *app)
{
        unsigned number = uid % ANDROID_USER;

        switch (cgroup->parsed.kind) {
        case CGROUP_ANDROID:
                if (number >= 10000 && number < 20000)
                        snprintf(app, APP_ID_MAX, "android:%u", uid);
                else
                        snprintf(app, APP_ID_MAX, "sys:waydroid");
                return true;
        case CGROUP_SYSTEM:
        case CGROUP_CONTAINER:
        case CGROUP_SNAP:
                snprintf(app, APP_ID_MAX, "%s", cgroup->id);
                return true;
        default:
                return false;
        }
}

static void classify(struct apps *apps, struct app_entry *entry, const struct app_entry *parent)
{
        const struct app_cgroup *cgroup = entry->cgroup;
        bool together = parent && parent->cgroup == cgroup;
        unsigned number;

        entry->kernel = app_process_is_kernel(apps->root_fd, entry);
        if (entry->kernel) {
                set_app(entry, "sys:kernel");
                return;
        }
        if (app_of_cgroup(cgroup, entry->uid, entry->app))
                return;
        if (app_flatpak_read(apps->root_fd, entry->pid, entry->app, sizeof(entry->app)) == 0) {
                entry->sandboxed = true;
                return;
        }
        if (app_process_read_steam(apps->root_fd, entry, &number) == 0) {
                snprintf(entry->app, sizeof(entry->app), "steam:%u", number);
                entry->own = true;
        } else if (together && parent->own) {
                set_app(entry, parent->app);
                entry->own = true;
        } else if (cgroup->parsed.kind == CGROUP_USER || cgroup->launcher) {
                classify_unit(apps, entry, parent, together);
        } else if (cgroup->parsed.kind == CGROUP_APP) {
                set_app(entry, cgroup->id);
        } else if (cgroup->parsed.kind == CGROUP_NONE) {
                classify_bare(apps, entry, parent);
        } else {
                classify_session(apps, entry, parent, together);
        }
}

/* The pid was reused, or the process executed another program. */
static bool is_another(const struct app_entry *entry, const struct app_process *process)
{
        return entry->start_time != process->start_time ||
               (!entry->kernel && strcmp(entry->comm, process->comm) != 0);
}

static struct app_entry *get_entry(struct apps *apps, const struct app_process *process)
{
        struct app_entry *entry = app_entry_find(apps, process->pid);

        if (!entry) {
                entry = calloc(1, sizeof(*entry));
                if (!entry)
                        return NULL;
                entry->pid = process->pid;
                HASH_ADD_INT(apps->entries, pid, entry);
                if (!HASH_HAS(entry)) {
                        free(entry);
                        return NULL;
                }
        }
        if (entry->looks == 0 || is_another(entry, process)) {
                let_go(apps, entry->cgroup);
                *entry = (struct app_entry){ .hh = entry->hh, .pid = process->pid,
                                             .start_time = process->start_time };
                snprintf(entry->comm, sizeof(entry->comm), "%s", process->comm);
        }
        entry->ppid = process->ppid;
        entry->uid = process->uid;
        entry->seen = apps->sweep;
        return entry;
}

/* At the second look most processes are still in their first group, below a settled parent: nothing to read. */
static bool has_stayed(const struct app_entry *entry, const struct app_cgroup *cgroup,
                       const struct app_entry *parent)
{
        return entry->looks == 1 && !entry->again && entry->cgroup == cgroup &&
               (!parent || parent->looks >= 2);
}

static int look(struct apps *apps, struct app_entry *entry, const struct app_entry *parent)
{
        struct app_cgroup *cgroup;
        char path[4096];

        if (app_process_read_cgroup(apps->root_fd, entry->pid, path, sizeof(path)) < 0)
                strcpy(path, "/");
        if (apps->refreshed != apps->sweep) /* the app may have been installed just now */
                desktop_index_refresh(apps->index);
        apps->refreshed = apps->sweep;
        cgroup = get_cgroup(apps, path);
        if (!cgroup)
                return -ENOMEM;
        if (!has_stayed(entry, cgroup, parent)) {
                move_to(apps, entry, cgroup);
                entry->lead = app_lead_of(apps->root_fd, entry);
                entry->top = entry->own = entry->sandboxed = entry->again = false;
                classify(apps, entry, parent);
        }
        entry->looks++;
        entry->look_sweep = apps->sweep;
        return 0;
}

/* Is this entry's pid still the same process? It was seen in this poll, or its end would have been reported. */
static bool is_trusted(const struct apps *apps, const struct app_entry *parent, const struct app_entry *child)
{
        return parent->seen == apps->sweep || (apps->told_of_ends && parent->start_time <= child->start_time);
}

/* Classifies a process after its ancestors, from the oldest down. */
static int resolve(struct apps *apps, const struct app_process *process, struct app_entry **ret)
{
        struct app_entry *chain[ANCESTORS_MAX], *parent = NULL;
        size_t n = 0;
        pid_t up;

        chain[n] = get_entry(apps, process);
        if (!chain[n++])
                return -ENOMEM;
        for (up = process->ppid; up > 0 && n < ANCESTORS_MAX; up = chain[n - 1]->ppid) {
                struct app_process above;
                char comm[32];

                parent = app_entry_find(apps, up);
                if (parent && is_trusted(apps, parent, chain[n - 1]) && !needs_look(apps, parent))
                        break;
                parent = NULL;
                if (app_process_read(apps->root_fd, up, &above, comm, sizeof(comm)) < 0)
                        break;
                chain[n] = get_entry(apps, &above);
                if (!chain[n++])
                        return -ENOMEM;
        }
        while (n-- > 0) {
                if (needs_look(apps, chain[n])) {
                        int err = look(apps, chain[n], parent);

                        if (err)
                                return err;
                }
                parent = chain[n];
        }
        *ret = parent;
        return 0;
}

static struct app_entry *settled(const struct apps *apps, const struct app_process *process)
{
        struct app_entry *entry = app_entry_find(apps, process->pid);

        if (!entry || is_another(entry, process))
                return NULL;
        return needs_look(apps, entry) ? NULL : entry;
}

int apps_find(struct apps *apps, const struct app_process *process, char *ret)
{
        struct app_entry *entry = settled(apps, process);
        int err;

        if (!entry) {
                err = resolve(apps, process, &entry);
                if (err)
                        return err;
        }
        entry->seen = apps->sweep;
        snprintf(ret, APP_ID_MAX, "%s", entry->app);
        return 0;
}

void apps_sweep(struct apps *apps)
{
        struct app_entry *entry, *next;

        HASH_ITER(hh, apps->entries, entry, next)
                if (entry->seen != apps->sweep)
                        free_entry(apps, entry);
        apps_next(apps);
}

void apps_next(struct apps *apps)
{
        apps->sweep++;
}

void apps_forget(struct apps *apps, pid_t pid, uint64_t start_time)
{
        struct app_entry *entry = app_entry_find(apps, pid);

        if (entry && entry->start_time == start_time)
                free_entry(apps, entry);
        apps->told_of_ends = true;
}

uint32_t apps_corrections(const struct apps *apps)
{
        return apps->corrections;
}
