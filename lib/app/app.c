/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/util.h"

#define CONFIG_MAX 65536

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
        char id[APP_ID_MAX], *end;
        unsigned number;

        snprintf(id, sizeof(id), "%s", parsed->id);
        end = app_before(id, ".desktop");
        if (!entry && end && strcmp(parsed->launcher, "flatpak") != 0) { /* a flatpak may be com.bitwarden.desktop */
                *end = '\0';
                entry = desktop_by_id(index, id);
        }
        if (!entry && parsed->launcher[0])
                entry = desktop_by_id(index, parsed->whole);
        if (!entry && !strchr(id, '/')) { /* a launcher may name its unit after the program */
                app_command_name(id, id, sizeof(id));
                entry = desktop_by_program(index, id);
        }
        if (entry)
                snprintf(ret, APP_ID_MAX, "%s", entry->id);
        else if ((strcmp(parsed->launcher, "steam") == 0 && sscanf(parsed->id, "app%10u", &number) == 1) ||
                 sscanf(parsed->id, "steam_app_%10u", &number) == 1)
                snprintf(ret, APP_ID_MAX, "steam:%u", number);
        else
                snprintf(ret, APP_ID_MAX, "%s", id);
}

/* Docker keeps the name that the user gave in a file; other engines pass it to a monitor (container_id()). */
static void docker_name(struct apps *apps, struct app_cgroup *cgroup)
{
        char path[160], name[64];
        _cleanup_free_ char *text = NULL;
        const char *at;

        snprintf(path, sizeof(path), "var/lib/docker/containers/%.64s/config.v2.json", cgroup->parsed.whole);
        text = malloc(CONFIG_MAX);
        if (!text || util_read_at(apps->root_fd, path, text, CONFIG_MAX) <= 0)
                return;
        at = strstr(text, "\"Name\":\"/");
        if (at && sscanf(at + 9, "%63[A-Za-z0-9_.-]", name) == 1)
                snprintf(cgroup->id, sizeof(cgroup->id), "ctr:%s", name);
}

static void read_cgroup(struct apps *apps, const char *path, struct app_cgroup *cgroup)
{
        const struct desktop_entry *entry;

        app_cgroup_parse(path, &cgroup->parsed);
        snprintf(cgroup->id, sizeof(cgroup->id), "%s", cgroup->parsed.id);
        if (cgroup->parsed.kind == CGROUP_APP ||
            (cgroup->parsed.kind == CGROUP_SPAWN && cgroup->parsed.id[0]))
                unit_id(apps, &cgroup->parsed, cgroup->id);
        if (strcmp(cgroup->id, "ctr:docker") == 0)
                docker_name(apps, cgroup);
        cgroup->line = lead_find_unit(cgroup->id);
        entry = cgroup->line ? NULL : desktop_by_id(app_index(apps), cgroup->id);
        if (entry && entry->program)
                cgroup->line = lead_find(entry->program); /* "org.gnome.Console" has the program kgx */
        if (!cgroup->line && entry && entry->terminal)
                cgroup->line = lead_find("TerminalEmulator");
        if (!cgroup->line || cgroup->line->lead != LEAD_TERMINAL || !cgroup->line->other)
                return;
        entry = desktop_by_program(app_index(apps), cgroup->line->other); /* a terminal's server is the terminal */
        snprintf(cgroup->id, sizeof(cgroup->id), "%s", entry ? entry->id : cgroup->line->other);
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
        read_cgroup(apps, path, cgroup);
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

static int look(struct apps *apps, struct app_entry *entry, struct app_entry *parent)
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
                entry->lead = entry->wraps ? LEAD_WRAPPER : app_lead_of(apps, entry);
                entry->own = entry->sandboxed = entry->again = entry->adopted = false;
                app_mark_led(apps, entry);
                app_classify(apps, entry, parent);
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

/* The parent, if it is the same process as when the child was started, and its control group. */
static struct app_entry *parent_of_ended(struct apps *apps, const struct app_process *process, const char **path)
{
        struct app_entry *parent = app_entry_find(apps, process->ppid);

        if (parent && (!parent->cgroup || parent->start_time > process->start_time))
                parent = NULL;
        if (*path && strcmp(*path, "/") != 0)
                return parent;
        /* A manager moves the processes that it starts to other groups. */
        *path = parent && (parent->lead < LEAD_TERMINAL || parent->cgroup->parsed.kind == CGROUP_CONTAINER)
                        ? parent->cgroup->path : NULL;
        return parent;
}

int apps_find_ended(struct apps *apps, const struct app_process *process, const char *path, char *ret)
{
        struct app_entry *parent = parent_of_ended(apps, process, &path);
        struct app_entry entry = { .pid = process->pid, .ppid = process->ppid, .start_time = process->start_time,
                                   .uid = process->uid, .ended = true };
        struct app_cgroup group = { 0 };

        if (!path || (parent && parent->kernel))
                return -ENODATA;
        HASH_FIND_STR(apps->cgroups, path, entry.cgroup);
        if (!entry.cgroup) { /* not remembered, since the group has probably ended, too */
                entry.cgroup = &group;
                read_cgroup(apps, path, &group);
        }
        app_classify(apps, &entry, parent);
        if (!*entry.app)
                return -ENODATA;
        snprintf(ret, APP_ID_MAX, "%s", entry.app);
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
