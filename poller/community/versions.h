/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which versions of packages and apps are installed, as their authors number them. */

#include <stddef.h>

#define VERSION_SIZE 24

/* Upstream versions of Debian packages, "" where there is none. @root_fd: of the machine. */
void versions_of_packages(int root_fd, const char *const *packages, size_t n, char (*ret)[VERSION_SIZE]);
/*
 * Versions of apps by their ids, "" where it is not known: of the flatpak with that id, this process's user's own or else the
 * system's, else of the Debian package that is called as the app, or as the last word of its id in lower case. @root_fd: -1: a
 * virtual device has none. 0; -ENOMEM.
 */
int versions_of_apps(int root_fd, const char *const *apps, size_t n, char (*ret)[VERSION_SIZE]);
/* The version of the first release in an app's description (AppStream's metainfo), which names the newest first. "": none. */
void versions_first_release(const char *metainfo, char ret[VERSION_SIZE]);
