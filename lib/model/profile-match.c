/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile-match.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

#include "profile-class.h"
#include "profile.h"
#include "util/util.h"

#define ID_MAX 256
#define TREE_MAX 4096

static bool holds(const char *glob, const char *kind, const char *id)
{
        char text[ID_MAX + 8];

        snprintf(text, sizeof(text), "%s:%s", kind, id);
        return fnmatch(glob, text, FNM_CASEFOLD) == 0;
}

static bool match_dmi(const char *glob, int root_fd)
{
        static const char *const parts[] = { "sys_vendor", "product_name", "product_version" };
        char id[ID_MAX] = "";

        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                char path[64], text[128];
                size_t length = strlen(id);

                snprintf(path, sizeof(path), "sys/class/dmi/id/%s", parts[i]);
                if (util_read_at(root_fd, path, text, sizeof(text)) < 0)
                        continue;
                text[strcspn(text, "\n")] = '\0';
                snprintf(id + length, sizeof(id) - length, "%s%s", length ? " " : "", text);
        }
        return id[0] && holds(glob, "dmi", id);
}

/* Strings that end in NUL, one after another: `compatible` has several, `model` one. */
static bool match_tree(const char *glob, int root_fd, const char *property)
{
        char path[64], text[TREE_MAX];
        ssize_t n;

        snprintf(path, sizeof(path), "sys/firmware/devicetree/base/%s", property);
        n = util_read_at(root_fd, path, text, sizeof(text));
        for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
                if (text[at] && strlen(text + at) < ID_MAX && holds(glob, "dt", text + at))
                        return true;
        return false;
}

static bool match_one(const char *glob, int root_fd)
{
        return match_dmi(glob, root_fd) || match_tree(glob, root_fd, "model") ||
               match_tree(glob, root_fd, "compatible");
}

bool profile_match(const char *globs, int root_fd)
{
        char copy[ID_MAX], *rest = copy, *one;

        snprintf(copy, sizeof(copy), "%s", globs);
        while ((one = strsep(&rest, "|"))) {
                char *end = one + strlen(one);

                one += strspn(one, " ");
                while (end > one && end[-1] == ' ')
                        *--end = '\0';
                if (match_one(one, root_fd))
                        return true;
        }
        return false;
}

bool profile_is_of_another(const struct profile *profile, const char *root)
{
        _cleanup_close_ int root_fd = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return profile->match && root_fd >= 0 && !profile_match(profile->match, root_fd);
}

static int is_profile(const struct dirent *entry)
{
        size_t length = strlen(entry->d_name);

        return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0;
}

/* 1: @name is that profile, and for this machine; 0: it is not. -ENOMEM. */
static int is_wanted(const char *folder, const char *name, int root_fd, bool class)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/%s", folder, name) < 0)
                return -ENOMEM;
        err = profile_load(path, NULL, &profile);
        if (err)
                return err == -ENOMEM ? err : 0;
        return profile->match && profile_is_class_file(profile) == class && profile_match(profile->match, root_fd);
}

int profile_match_shipped(const char *folder, int root_fd, bool class, char **ret)
{
        struct dirent **entries = NULL;
        int n = scandir(folder, &entries, is_profile, alphasort), found = 0, at = 0;
        char *name = NULL;

        if (n < 0)
                return errno == ENOMEM ? -ENOMEM : -ENOENT;
        while (at < n && found == 0)
                found = is_wanted(folder, entries[at++]->d_name, root_fd, class);
        if (found > 0)
                name = strndup(entries[at - 1]->d_name, strlen(entries[at - 1]->d_name) - 4);
        for (int i = 0; i < n; i++)
                free(entries[i]);
        free(entries);
        if (name)
                *ret = name;
        return name ? 0 : found == 0 ? -ENOENT : -ENOMEM;
}
