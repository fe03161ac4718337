/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names of programs, by their paths and titles. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app-command.h"
#include "util/util.h"

#define HASH_DIGITS 8    /* in names that have a version anyway */
#define COMMIT_DIGITS 12

bool app_command_is_windows(const char *name)
{
        return app_before(name, ".exe") || app_before(name, ".lnk");
}

const char *app_command_base(const char *path)
{
        const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');

        if (back && app_command_is_windows(path))
                return back + 1;
        return slash ? slash + 1 : path;
}

/* Programs named by their folder instead; folders that give no name; and folders of runtimes that apps bring. */
static const char generic_names[] = "__main__ app cli index launch launcher main run runner start",
                  plain_folders[] = ". .. app bin build ch-0 cli dist exec home lib libexec local node_modules opt out "
                                    "resources root server servers share src srv tmp usr versions",
                  runtime_folders[] = "electron java jbr jdk jre jre64 node python runtime";

static const char *start_of_folder(const char *path, const char *end)
{
        while (end > path && end[-1] != '/')
                end--;
        return end;
}

/* "1.9.14", "v2" */
static bool is_version(const char *word)
{
        word += *word == 'v' || *word == 'V';
        return *word >= '0' && *word <= '9';
}

static bool is_machine(const char *word)
{
        static const char *const machines[] = { "aarch64", "amd64", "arm64", "linux", "x64", "x86" };

        for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
                if (strncasecmp(word, machines[i], strlen(machines[i])) == 0 &&
                    !isalpha((unsigned char)word[strlen(machines[i])]))
                        return true;
        return false;
}

/* A folder that gives no name: also "v4", "2025.09.18-7ae6800" and "linux-x86_64". */
static bool is_plain(const char *folder, size_t length)
{
        return length == 0 || app_is_listed(plain_folders, folder, length) || is_machine(folder) ||
               (is_version(folder) && strchr("./", folder[1 + strspn(folder + 1, DIGITS)]));
}

/* "/usr/lib/element/resources/app.asar": "element". */
static void folder_name(const char *path, const char *base, char *name, size_t size)
{
        for (const char *end = base - 1, *start; end > path; end = start - 1) {
                start = start_of_folder(path, end);
                if (!is_plain(start, (size_t)(end - start))) {
                        snprintf(name, size, "%.*s", (int)(end - start), start);
                        return;
                }
        }
}

static bool cut_end(char *name, const char *ending)
{
        char *end = app_before(name, ending);

        if (end)
                *end = '\0';
        return end;
}

/* "Obsidian-1.9.14.AppImage", "obsidian_0123456789abcdef.AppImage", "Krita-x86_64.AppImage", "server.1.20.4.jar". */
static void cut_version(char *name)
{
        for (char *at = name + 1; *name && *at; at++) {
                const char *word = at + 1;

                if (!strchr("-_. ", *at))
                        continue;
                if (is_version(word) || strspn(word, HEX_DIGITS) >= HASH_DIGITS || is_machine(word)) {
                        *at = '\0';
                        return;
                }
        }
}

/* The version or commit at which a program's name ends: "gimp-2.10", "Godot_v4.3-stable", "code-6609ac3d66f4". */
static bool is_release(const char *word)
{
        const char *number = word + (*word == 'v'), *end = number + strspn(number, DIGITS);

        return (end > number && end[0] == '.' && isdigit((unsigned char)end[1])) ||
               strspn(word, HEX_DIGITS) >= COMMIT_DIGITS;
}

static void cut_release(char *name)
{
        char *version = name + strlen(name);

        for (char *at = name + 1; *name && *at; at++)
                if ((*at == '-' || *at == '_') && is_release(at + 1)) {
                        *at = '\0';
                        return;
                }
        while (version > name && strchr(DIGITS ".", version[-1])) /* "php-fpm8.2" */
                version--;
        if (version > name && *version != '.' && strchr(version, '.'))
                *version = '\0';
}

/* ".firefox-wrapped", "..foo-wrapped-wrapped", ".foot-real"; the kernel cuts such a name: ".firefox-wrappe". */
static void unwrap(char *name)
{
        while (name[0] == '.' && name[1]) {
                char *dash = strrchr(name, '-');
                bool cut = strlen(name) == 15;

                if (dash && (strcmp(dash, "-real") == 0 || strcmp(dash, "-wrapped") == 0 ||
                             strcmp(dash, "-wrapped_") == 0 ||
                             (cut && strncmp("-wrapped", dash, strlen(dash)) == 0)))
                        *dash = '\0';
                else if (!cut)
                        return;
                memmove(name, name + 1, strlen(name));
        }
}

/* Is it an app's folder? Not a home, "/usr/lib/electron34" or "versions/3.11". */
static bool is_apps_folder(const char *path, const char *folder, const char *program)
{
        bool home = strncmp(path, "/home/", 6) == 0 && folder == path + 6;

        return !home && !is_version(folder) && strncmp(folder, program, strcspn(program, DIGITS ".")) != 0;
}

/* A folder named after a commit, "Stable-0123456789ab", holds one build of an app. */
static bool is_build(const char *folder, size_t length)
{
        const char *dash = memchr(folder, '-', length), *commit = dash ? dash + 1 : folder;
        size_t digits = strspn(commit, HEX_DIGITS);

        return digits >= COMMIT_DIGITS && commit + digits == folder + length;
}

size_t app_command_bundle(const char *runtime)
{
        const char *base = util_base_name(runtime);
        bool in_bin = false, own = false;

        for (const char *end = base - 1, *start; end > runtime; end = start - 1) {
                const char *name;
                size_t length;

                start = start_of_folder(runtime, end);
                name = start + (*start == '.'); /* "~/.vscode-server" */
                length = (size_t)(end - name);
                if (app_is_listed(runtime_folders, name, length) || (!in_bin && is_build(name, length)))
                        own = true;
                else if (in_bin && !own)
                        return 0;
                else if (length == 3 && strncmp(name, "bin", 3) == 0)
                        in_bin = true;
                else if (!is_plain(name, length) && !(own && is_version(name)))
                        return is_apps_folder(runtime, name, base) ? (size_t)(end - runtime) : 0;
        }
        return 0;
}

/* Remote editors are in folders like "a1b2c3d4e5f60_ideaIU-2024.1". */
void app_command_bundle_name(const char *folder, char *name, size_t size)
{
        const char *base = util_base_name(folder), *after;

        base += *base == '.';
        after = base + strspn(base, HEX_DIGITS);
        util_printable(after - base >= HASH_DIGITS && *after == '_' ? after + 1 : base, name, size);
        cut_version(name);
}

/* A process may have a title: "gunicorn: worker [app]", "lutris-wrapper: My Game". */
void app_command_name(const char *path, char *name, size_t size)
{
        const char *title = *path == '/' ? NULL : strstr(path, ": "), *base = title ? path : app_command_base(path);
        const struct lead_line *line;
        char copy[APP_PROGRAM_MAX];

        base += title && *base == '['; /* "[celeryd: celery@host:MainProcess] -active-" */
        snprintf(copy, sizeof(copy), "%.*s", (int)(title ? title + 1 - base : APP_PROGRAM_MAX - 1), base);
        line = title ? lead_find(copy) : NULL;
        if (line && line->lead == LEAD_GAME)
                snprintf(copy, sizeof(copy), "%s", title + 2);
        else if (title)
                copy[strlen(copy) - 1] = '\0';
        if (base > path && !app_command_is_windows(base) &&
            (is_release(base) || app_is_listed(generic_names, base, strcspn(base, "."))))
                folder_name(path, base, copy, sizeof(copy));
        unwrap(copy);
        if (cut_end(copy, ".AppImage") || cut_end(copy, ".jar") || cut_end(copy, ".dll"))
                cut_version(copy);
        if (cut_end(copy, ".lnk")) /* a menu's link to a program mostly has its name */
                strcat(copy, ".exe");
        if (!app_command_is_windows(copy))
                cut_release(copy);
        util_printable(copy, name, size);
        if (!*name)
                snprintf(name, size, "unnamed"); /* an empty id means no app */
}

/* The part of a name that is the same in an entry and in a process. */
static size_t stem(const char *name)
{
        static const char *const ends[] = { ".py", ".sh", ".pl", ".rb", ".js", ".mjs", ".cjs", ".bin", "-bin", "bin",
                                            "-gui", "-stable", "-server", "-" };
        const char *end = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(ends) && !end; i++)
                end = app_before(name, ends[i]);
        return end ? (size_t)(end - name) : strlen(name);
}

bool app_command_same(const char *name, const char *other)
{
        size_t length = strncasecmp(name, other, 1) == 0 ? stem(name) : 0; /* most differ in the first letter */

        return length > 0 && length == stem(other) && strncasecmp(name, other, length) == 0;
}
