/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "versions.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "source/sample.h"
#include "traits.h"
#include "util/util.h"

#define METAINFO_MAX ((size_t)1 << 20)
#define FLATPAKS_MAX 256 /* longest path of an installation, bytes */

/* "1:115.9.1esr-1~deb12u1" -> "115.9.1esr" */
static void upstream_version(const char *text, char *buf)
{
        const char *colon = strchr(text, ':'), *start = colon ? colon + 1 : text, *dash = strrchr(start, '-');
        char part[256];

        snprintf(part, sizeof(part), "%.*s", (int)(dash ? (size_t)(dash - start) : strlen(start)), start);
        traits_plain(part, buf, VERSION_SIZE);
}

void versions_of_packages(int root_fd, const char *const *packages, size_t n, char (*ret)[VERSION_SIZE])
{
        _cleanup_close_ int fd = openat(root_fd, "var/lib/dpkg/status", O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
        _cleanup_free_ char *line = NULL;
        size_t capacity = 0, at = n;

        for (size_t i = 0; i < n; i++)
                ret[i][0] = '\0';
        if (file)
                (void)take_fd(&fd); /* the stream closes it */
        while (file && getline(&line, &capacity, file) > 0) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "Package: ", 9) == 0) {
                        for (at = 0; at < n && strcmp(line + 9, packages[at]) != 0; at++)
                                ;
                } else if (at < n && strncmp(line, "Version: ", 9) == 0) {
                        upstream_version(line + 9, ret[at]);
                }
        }
}

/* Guesses the package of an app from its id. */
static void package_of(const char *app, char *buf, size_t size)
{
        const char *dot = strrchr(app, '.');

        snprintf(buf, size, "%s", dot && dot[1] ? dot + 1 : app);
        for (char *c = buf; *c; c++)
                *c = (char)tolower((unsigned char)*c);
}

void versions_first_release(const char *metainfo, char ret[VERSION_SIZE])
{
        static const char tag[] = "<release";
        const char *at = strstr(metainfo, tag), *end, *value;

        *ret = '\0';
        while (at && !isspace((unsigned char)at[sizeof(tag) - 1])) /* "<releases>" */
                at = strstr(at + 1, tag);
        end = at ? strchr(at, '>') : NULL;
        value = end ? strstr(at, "version=") : NULL;
        if (!value || value > end || !isspace((unsigned char)value[-1]) || (value[8] != '"' && value[8] != '\''))
                return;
        value += 9;
        end = strchr(value, value[-1]);
        if (end && end - value < VERSION_SIZE) {
                char text[VERSION_SIZE];

                snprintf(text, sizeof(text), "%.*s", (int)(end - value), value);
                traits_plain(text, ret, VERSION_SIZE);
        }
}

/*
 * @flatpaks: folder of an installation; @text: buffer of METAINFO_MAX bytes. Returns false if there is no such
 * flatpak, or it gives no version.
 */
static bool flatpak_version(int root_fd, const char *flatpaks, const char *app, char *text, char *ret)
{
        static const struct {
                const char *folder, *ending;
        } places[] = { { "metainfo", "metainfo.xml" }, { "metainfo", "appdata.xml" }, { "appdata", "appdata.xml" } };

        if (!strchr(app, '.') || strchr(app, '/') || strstr(app, ".."))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                char path[FLATPAKS_MAX + 2 * APP_ID_MAX + 128];

                snprintf(path, sizeof(path), "%s/app/%s/current/active/files/share/%s/%s.%s", flatpaks, app,
                         places[i].folder, app, places[i].ending);
                if (util_read_at(root_fd, path, text, METAINFO_MAX) < 0)
                        continue;
                versions_first_release(text, ret);
                return *ret != '\0';
        }
        return false;
}

/*
 * Finds the flatpaks of the recorded user, who is also the user of this process; path below the root. "":
 * unknown.
 */
static void find_own_flatpaks(char ret[FLATPAKS_MAX])
{
        const struct passwd *user = getpwuid(geteuid());
        const char *home = user && user->pw_dir ? user->pw_dir + strspn(user->pw_dir, "/") : "";

        if (snprintf(ret, FLATPAKS_MAX, "%s%s", home, *home ? "/.local/share/flatpak" : "") >= FLATPAKS_MAX)
                *ret = '\0';
}

/* In the order of `flatpak run`. */
static bool find_flatpak(int root_fd, const char *own, const char *app, char *text, char *version)
{
        return (*own && flatpak_version(root_fd, own, app, text, version)) ||
               flatpak_version(root_fd, "var/lib/flatpak", app, text, version);
}

int versions_of_apps(int root_fd, const char *const *apps, size_t n, char (*ret)[VERSION_SIZE])
{
        _cleanup_free_ char(*packages)[APP_ID_MAX] = calloc(n + 1, sizeof(*packages));
        _cleanup_free_ const char **wanted = calloc(n + 1, sizeof(char *));
        _cleanup_free_ char *text = malloc(METAINFO_MAX);
        char own[FLATPAKS_MAX];

        if (!packages || !wanted || !text)
                return -ENOMEM;
        memset(ret, 0, n * sizeof(*ret));
        if (root_fd < 0 || n == 0)
                return 0;
        for (size_t i = 0; i < n; i++) {
                package_of(apps[i], packages[i], sizeof(packages[i]));
                wanted[i] = packages[i];
        }
        versions_of_packages(root_fd, wanted, n, ret);
        find_own_flatpaks(own);
        for (size_t i = 0; i < n; i++) {
                char version[VERSION_SIZE];

                if (find_flatpak(root_fd, own, apps[i], text, version))
                        memcpy(ret[i], version, sizeof(version));
        }
        return 0;
}

int versions_source_of(int root_fd, const char *app, char *package)
{
        _cleanup_free_ char *text = malloc(METAINFO_MAX);
        char own[FLATPAKS_MAX], version[1][VERSION_SIZE] = { "" };
        const char *const wanted[] = { package };

        if (!text)
                return -ENOMEM;
        find_own_flatpaks(own);
        if (find_flatpak(root_fd, own, app, text, version[0]))
                return VERSION_FLATPAK;
        package_of(app, package, APP_ID_MAX);
        versions_of_packages(root_fd, wanted, 1, version);
        return *version[0] ? VERSION_PACKAGE : VERSION_UNKNOWN;
}
