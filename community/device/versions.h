/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Installed versions of packages and apps, as their authors number them. */

#include <stddef.h>

#define VERSION_SIZE 24

/* Upstream versions of Debian packages; "": not installed. @root_fd: root folder of the machine. */
void versions_of_packages(int root_fd, const char *const *packages, size_t n, char (*ret)[VERSION_SIZE]);
/*
 * Versions of apps by their ids; "": unknown. Searched in order: the flatpak with that id, of this process's
 * user or else of the system; and the Debian package with the app's name, or with the last word of its id in
 * lower case. @root_fd -1: a virtual device, which has none. Returns 0 or -ENOMEM.
 */
int versions_of_apps(int root_fd, const char *const *apps, size_t n, char (*ret)[VERSION_SIZE]);
/* Who installed that version? */
enum version_source {
        VERSION_UNKNOWN,
        VERSION_FLATPAK,
        VERSION_PACKAGE,
};
/* @package: the Debian package, of APP_ID_MAX bytes. Returns a version_source or -ENOMEM. */
int versions_source_of(int root_fd, const char *app, char *package);
/*
 * Version of the first release in an app's description (AppStream's metainfo), where the newest comes first.
 * "": none.
 */
void versions_first_release(const char *metainfo, char ret[VERSION_SIZE]);
