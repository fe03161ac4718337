/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the shipped profile for this machine, by the names in its firmware. */

#include <stdbool.h>

/*
 * Does a glob of `match` match this machine? It is compared with "dmi:VENDOR PRODUCT VERSION" (sys/class/dmi/id), and
 * with "dt:" and the model or a compatible string of the device tree. Case is ignored. Several globs have a | between
 * them.
 */
bool profile_match(const char *globs, int root_fd);

/* True if its `match` does not match the device whose /sys is in the folder @root; NULL: this machine. */
struct profile;
bool profile_is_of_another(const struct profile *profile, const char *root);

/*
 * Name (without .ini) of the first profile in @folder whose `match` matches this machine. @class: only files of
 * classes (profile-class.h); else only others. 0; -ENOENT: none; -ENOMEM. free() it.
 */
int profile_match_shipped(const char *folder, int root_fd, bool class, char **ret);
