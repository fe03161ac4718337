/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which app a process is: by its unit, else by its ancestors, else by its program. */

#include "app-private.h"

#include <string.h>

#include "util/util.h"

#define ANDROID_USER 100000 /* uids per Android user */
#define USERS_FROM 1000     /* uids below are the system's */

void app_desktop_id(const struct desktop_entry *entry, char *ret)
{
        char id[APP_ID_MAX];

        util_printable(entry->id, id, sizeof(id) - 8);
        if (entry->snap)
                snprintf(ret, APP_ID_MAX, "snap:%.*s", (int)MIN(strcspn(id, "_"), (size_t)120), id);
        else
                snprintf(ret, APP_ID_MAX, "%s", id);
}

/* Desktop entries know some programs by another name; if it is in the file's path, it is that program. Or NULL. */
static const char *alias_of(const struct app_program *program)
{
        const struct lead_line *line = lead_find(program->name);
        char first[32];

        if (!line || !line->other || line->lead == LEAD_DESKTOP)
                return NULL;
        snprintf(first, sizeof(first), "%.*s", (int)strcspn(line->other, "-"), line->other);
        return line->lead != LEAD_ALIAS || strstr(*program->exe ? program->exe : program->path, first) ? line->other
                                                                                                          : NULL;
}

/* The id of the desktop entry that starts this program; false: there is none, and it is the program's name. */
static bool program_id(struct apps *apps, const struct app_program *program, char *ret)
{
        const struct desktop_index *index = app_index(apps);
        const struct desktop_entry *entry = NULL, *near = NULL; /* in the program's folder */
        const char *alias = alias_of(program);
        bool wraps = program->command.lead == LEAD_WRAPPER;

        if (program->bundled)
                entry = desktop_by_folder(index, program->path);
        else if (!wraps && !program->command.interpreted)
                near = desktop_by_file(index, program->path[0] == '/' ? program->path : program->exe);
        if (near && near->program && app_command_same(near->program, program->name))
                entry = near; /* another version of the program may be in another folder */
        if (!entry)
                entry = desktop_by_program(index, program->name);
        if (!entry)
                entry = near;
        if (!entry && !wraps && alias)
                entry = desktop_by_program(index, alias);
        if (entry)
                app_desktop_id(entry, ret);
        else
                snprintf(ret, APP_ID_MAX, "%s", alias ? alias : program->name);
        return entry;
}

bool app_unit_decides(const struct app_cgroup *cgroup)
{
        enum app_lead lead = cgroup->line ? cgroup->line->lead : LEAD_NOT;

        if (lead == LEAD_WRAPPER && cgroup->line->bridge && cgroup->parsed.kind == CGROUP_USER)
                lead = LEAD_NOT; /* the service of a container engine */
        return (cgroup->parsed.kind == CGROUP_APP || cgroup->parsed.kind == CGROUP_USER) && !cgroup->led &&
                *cgroup->id &&
               (lead < LEAD_SENDER || lead == LEAD_SESSION);
}

/*
 * The app of the ancestors, if a process of this lead belongs to it. NULL: it is an app of its own.
 * @alone: another app than the one that starts it
 */
static const char *app_of_parent(const struct app_cgroup *cgroup, enum app_lead lead, bool alone,
                                 const struct app_entry *above)
{
        enum cgroup_kind kind = above && above->cgroup ? above->cgroup->parsed.kind : CGROUP_SYSTEM;
        bool together = above && above->cgroup == cgroup;

        if (above && above->own && together)
                return above->app;
        if (kind == CGROUP_SYSTEM || kind == CGROUP_CONTAINER || kind == CGROUP_ANDROID || above->kernel)
                return NULL;
        switch (above->lead) {
        case LEAD_SESSION:
        case LEAD_DESKTOP:
                return NULL;
        case LEAD_SHELL:
                return lead == LEAD_SHELL ? above->app : NULL;
        case LEAD_TERMINAL:
                return lead == LEAD_SHELL || (lead == LEAD_TERMINAL && together) ? above->app : NULL;
        case LEAD_STARTER:
                return alone ? NULL : above->app;
        default:
                return lead >= LEAD_TERMINAL && lead != LEAD_SHELL ? NULL : above->app;
        }
}

/* The X server of a compositor's unit, or the program that the unit is named after. */
static bool is_units_own(const struct app_entry *entry, const struct app_program *program,
                         const struct app_entry *parent)
{
        const struct app_cgroup *cgroup = entry->cgroup;
        const struct lead_line *line = program->command.line;
        bool together = parent && parent->cgroup == cgroup;

        if (!*cgroup->id || (cgroup->parsed.kind != CGROUP_APP && cgroup->parsed.kind != CGROUP_USER))
                return false;
        if (cgroup->parsed.kind == CGROUP_USER)
                return !cgroup->line && entry->lead == LEAD_DESKTOP && (!together || (line && line->other));
        return line && line == cgroup->line &&
               (line->other || lead_same_name(program->name, desktop_last_part(cgroup->id)));
}

/* Steam's and file managers' own helpers have no desktop entry. */
static bool stands_alone(struct apps *apps, const struct app_program *program, const char *app)
{
        char id[APP_ID_MAX];

        return program->alone || program->command.lead == LEAD_GAME ||
               (program_id(apps, program, id) && strcmp(id, app) != 0);
}

/*
 * Has the program a desktop entry, and @app, of its ancestors or unit, none? Compares comm first: most processes are
 * no apps, and their files need not be read. @ret: valid if so.
 */
static bool is_known_app(struct apps *apps, const struct app_entry *entry, const char *app, char *ret)
{
        const struct desktop_index *index = app_index(apps);
        const struct lead_line *line = lead_find_comm(entry->comm);
        const char *colon = strchr(app, ':');
        struct app_program program;
        char name[APP_ID_MAX];

        if ((line && line->lead != LEAD_ALIAS && line->lead != LEAD_STARTER) || desktop_by_id(index, app) ||
            app_after(app, "steam:"))
                return false;
        app_command_name(entry->comm, name, sizeof(name));
        if (!line && strlen(entry->comm) < COMM_LENGTH && !desktop_by_program(index, name))
                return false;
        app_program_read(apps, entry, &program);
        return (line || strncasecmp(program.name, name, strlen(name)) == 0) &&
               !(colon && app_command_same(desktop_last_part(colon + 1), program.name)) &&
               program_id(apps, &program, ret);
}

/* In a unit that does not name the app: by the ancestors, else the program is the app. */
static void classify_program(struct apps *apps, struct app_entry *entry, struct app_entry *parent)
{
        const struct app_entry *above;
        struct app_cgroup *cgroup = entry->cgroup;
        struct app_program program;
        const char *app;
        bool alone = false;

        if (!entry->ended)
                app_ask_wrapper(apps, entry, parent);
        above = app_above_wrappers(apps, parent);
        if (above && above->lead == LEAD_STARTER && !entry->ended) {
                app_program_read(apps, entry, &program);
                alone = stands_alone(apps, &program, above->app);
        }
        if (entry->lead == LEAD_SHELL && cgroup->parsed.kind == CGROUP_SPAWN && *cgroup->id) {
                app_set(entry, cgroup->id);
                return;
        }
        app = app_of_parent(cgroup, entry->lead, alone, above);
        if (app && (entry->ended || above->own || above->lead != LEAD_NOT ||
                    !is_known_app(apps, entry, app, entry->app))) {
                app_set(entry, app);
                entry->own = above->own && above->cgroup == cgroup;
                if (above->lead == LEAD_STARTER && entry->lead == LEAD_NOT)
                        entry->lead = LEAD_STARTER; /* a helper of Heroic's starts the game */
                return;
        }
        if (entry->ended)
                return;
        app_program_read(apps, entry, &program);
        if (is_units_own(entry, &program, parent) ||
            (cgroup->line && cgroup->line->lead == LEAD_STARTER && !(above && above->lead == LEAD_SHELL) &&
             !stands_alone(apps, &program, cgroup->id)))
                app_set(entry, cgroup->id);
        else
                program_id(apps, &program, entry->app);
        app_adopt(apps, entry, parent);
}

/*
 * Without control groups what a user runs belongs to its ancestors, as in a session. Each program of the system's is an
 * app, except helpers of a classified app: all that an init script starts is one tree.
 */
static void classify_bare(struct apps *apps, struct app_entry *entry, struct app_entry *parent)
{
        enum cgroup_kind above = parent ? parent->cgroup->parsed.kind : CGROUP_NONE;
        struct app_program program;

        if (entry->pid == 1) {
                app_set(entry, "sys:init");
        } else if (above == CGROUP_SYSTEM ||
                   (above != CGROUP_NONE && above != CGROUP_SESSION && parent->lead < LEAD_TERMINAL)) {
                app_set(entry, parent->app);
        } else if (parent && MIN(parent->uid, entry->uid) >= USERS_FROM) {
                classify_program(apps, entry, parent);
        } else if (!entry->ended) {
                app_program_read(apps, entry, &program);
                program_id(apps, &program, entry->app);
        }
}

/* podman and CRI-O pass the name to the monitor of each container: "conmon -n NAME". */
static bool container_id(struct apps *apps, struct app_entry *entry, const struct app_entry *parent)
{
        const struct app_cgroup *cgroup = entry->cgroup;
        char words[4096];
        ssize_t n;

        if (!parent || !*cgroup->parsed.whole || cgroup->parsed.kind != CGROUP_CONTAINER)
                return false;
        if (parent->cgroup->parsed.kind == CGROUP_CONTAINER &&
            strcmp(parent->cgroup->parsed.whole, cgroup->parsed.whole) == 0) {
                app_set(entry, parent->app);
                return true;
        }
        n = strcmp(parent->comm, "conmon") == 0
                    ? app_process_read_words(apps->root_fd, parent->pid, "cmdline", words, sizeof(words)) : 0;
        for (const char *word = words; n > 0 && word < words + n; word += strlen(word) + 1) {
                const char *name = word + strlen(word) + 1;

                if ((strcmp(word, "-n") == 0 || strcmp(word, "--name") == 0) && name < words + n && *name) {
                        char plain[APP_ID_MAX - 8];

                        snprintf(entry->app, sizeof(entry->app), "ctr:%s",
                                 util_printable(name, plain, sizeof(plain)));
                        return true;
                }
        }
        return false;
}

/* true: the control group alone names the app, of a system service, container, snap or Android. */
static bool is_of_cgroup(const struct app_cgroup *cgroup, uid_t uid, char *app)
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
                return *cgroup->id; /* nothing of the name remains if systemd-run made it up */
        default:
                return false;
        }
}

void app_look_again(const struct apps *apps, const struct app_entry *entry)
{
        for (struct app_entry *at = apps->entries; at; at = at->hh.next)
                if (at->cgroup == entry->cgroup && at != entry && !at->corrected) {
                        at->looks = MIN(at->looks, 1);
                        at->look_sweep = apps->sweep - 1;
                        at->again = true;
                }
}

void app_mark_led(struct apps *apps, const struct app_entry *entry)
{
        struct app_cgroup *cgroup = entry->cgroup;

        if (!cgroup->led && cgroup->parsed.kind == CGROUP_USER &&
            (entry->lead == LEAD_DESKTOP || entry->lead == LEAD_TERMINAL)) {
                cgroup->led = true;
                app_look_again(apps, entry);
        }
}

/* In the flatpak of a launcher of games: the same programs are alone as outside, but for the launcher itself. */
static bool is_game_of(struct apps *apps, struct app_entry *entry)
{
        struct app_program program;

        app_program_read(apps, entry, &program);
        if ((!program.alone && program.command.lead != LEAD_GAME) ||
            app_command_same(desktop_last_part(entry->app), program.name))
                return false;
        program_id(apps, &program, entry->app);
        return true;
}

/* A flatpak, or a game of Steam or of a launcher in a flatpak, by the process's own files. */
static bool classify_by_files(struct apps *apps, struct app_entry *entry, const struct app_entry *parent,
                              bool named, bool steam)
{
        const struct lead_line *line;
        bool starter;
        unsigned number;

        if (!named)
                entry->sandboxed = app_flatpak_read(apps->root_fd, entry->pid, entry->app, sizeof(entry->app)) == 0;
        line = entry->sandboxed ? lead_find_unit(entry->app) : NULL;
        starter = line && line->lead == LEAD_STARTER;
        steam |= entry->sandboxed && strcasestr(entry->app, "steam");
        entry->own = true;
        if ((steam || !entry->sandboxed) && app_process_read_steam(apps->root_fd, entry, &number) == 0)
                snprintf(entry->app, sizeof(entry->app), "steam:%u", number);
        else if ((steam || starter) && parent && parent->own && parent->cgroup == entry->cgroup)
                app_set(entry, parent->app);
        else
                entry->own = starter && is_game_of(apps, entry);
        return entry->own || entry->sandboxed;
}

void app_classify(struct apps *apps, struct app_entry *entry, struct app_entry *parent)
{
        const struct app_cgroup *cgroup = entry->cgroup;
        bool steam = strcasestr(cgroup->id, "steam") != NULL, together = parent && parent->cgroup == cgroup, named;
        struct app_program program;

        entry->kernel = !entry->ended && app_process_is_kernel(apps->root_fd, entry);
        if (entry->kernel) {
                app_set(entry, "sys:kernel");
                return;
        }
        named = container_id(apps, entry, parent) || is_of_cgroup(cgroup, entry->uid, entry->app);
        if ((named && (!steam || entry->ended)) ||
            (!entry->ended && classify_by_files(apps, entry, parent, named, steam)) || named)
                return;
        if (entry->ended && together && (parent->own || parent->sandboxed)) {
                app_set(entry, parent->app);
        } else if (cgroup->parsed.kind == CGROUP_SYSTEM && !entry->ended) {
                app_program_read(apps, entry, &program); /* systemd-run as root: the unit's name has no meaning */
                snprintf(entry->app, sizeof(entry->app), "sys:%.100s", program.name);
        } else if (cgroup->parsed.kind == CGROUP_NONE) {
                classify_bare(apps, entry, parent);
        } else if (app_unit_decides(cgroup) && !(together && parent->own)) {
                entry->own = !entry->ended && strcmp(cgroup->parsed.launcher, "flatpak") != 0 &&
                             is_known_app(apps, entry, cgroup->id, entry->app);
                if (!entry->own)
                        app_set(entry, cgroup->id);
        } else {
                classify_program(apps, entry, parent);
        }
}
