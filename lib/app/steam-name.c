/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names of Steam's games, by the manifests that Steam writes for those that are installed. */

#include "steam-name.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define FILE_MAX (64 * 1024)

/* The value after a key in a line of Steam's files: "name"  "Portal 2". Returns the place after it, or NULL. */
static const char *value(const char *text, const char *key, char *ret, size_t size)
{
        const char *at = strstr(text, key), *end;

        if (!at)
                return NULL;
        at += strlen(key);
        at += strspn(at, " \t");
        end = *at == '"' ? strpbrk(at + 1, "\"\n") : NULL;
        if (!end || *end != '"')
                return NULL;
        snprintf(ret, size, "%.*s", (int)MIN((size_t)(end - at - 1), size - 1), at + 1);
        return end;
}

static bool read_manifest(int root_fd, const char *library, unsigned number, char *text, char *ret, size_t size)
{
        char path[768], name[256];

        snprintf(path, sizeof(path), "%.600s/steamapps/appmanifest_%u.acf", library + strspn(library, "/"), number);
        if (util_read_at(root_fd, path, text, FILE_MAX) <= 0 || !value(text, "\"name\"", name, sizeof(name)) ||
            !*name)
                return false;
        util_printable(name, ret, size);
        return true;
}

/* @folder: Steam's own; libraries on other disks are found from there. */
static bool name_in(int root_fd, const char *folder, unsigned number, char *ret, size_t size)
{
        _cleanup_free_ char *libraries = malloc(FILE_MAX), *text = malloc(FILE_MAX);
        char path[600], library[512];

        snprintf(path, sizeof(path), "%.500s/steamapps/libraryfolders.vdf", folder + strspn(folder, "/"));
        if (!libraries || !text)
                return false;
        if (read_manifest(root_fd, folder, number, text, ret, size))
                return true;
        if (util_read_at(root_fd, path, libraries, FILE_MAX) <= 0)
                return false;
        for (const char *at = libraries; (at = value(at, "\"path\"", library, sizeof(library)));)
                if (read_manifest(root_fd, library, number, text, ret, size))
                        return true;
        return false;
}

/* Steam is a package, a flatpak or a snap. */
static bool name_in_home(int root_fd, const char *home, size_t length, unsigned number, char *ret, size_t size)
{
        static const char *const places[] = { ".local/share/Steam", ".var/app/com.valvesoftware.Steam/data/Steam",
                                              "snap/steam/common/.local/share/Steam" };
        char folder[480];

        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                snprintf(folder, sizeof(folder), "%.*s/%s", (int)MIN(length, (size_t)400), home, places[i]);
                if (name_in(root_fd, folder, number, ret, size))
                        return true;
        }
        return false;
}

bool steam_name(int root_fd, const char *folders, unsigned number, char *ret, size_t size)
{
        const char *below = strstr(folders, "/.local/share"), *home = below; /* this user's, in the first folders */
        _cleanup_closedir_ DIR *homes = NULL;
        const struct dirent *user;

        while (home && home > folders && home[-1] != ':')
                home--;
        if (below && name_in_home(root_fd, home, (size_t)(below - home), number, ret, size))
                return true;
        homes = util_opendir_at(root_fd, "home");
        while (homes && (user = readdir(homes))) {
                char folder[300];

                snprintf(folder, sizeof(folder), "home/%s", user->d_name);
                if (user->d_name[0] != '.' && name_in_home(root_fd, folder, strlen(folder), number, ret, size))
                        return true;
        }
        return false;
}
