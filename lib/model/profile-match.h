/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which shipped profile is for this machine, by what its firmware calls itself. */

#include <stdbool.h>

/*
 * What a glob of `match` is held against: "dmi:VENDOR PRODUCT VERSION" (sys/class/dmi/id), and "dt:" before
 * the model and before each compatible string of the device tree. Upper and lower case are alike. Several globs have a
 * | between them.
 */
bool profile_match(const char *globs, int root_fd);

/* Its `match` names other devices than the one whose /sys is in the folder @root; NULL: this machine. */
struct profile;
bool profile_is_of_another(const struct profile *profile, const char *root);

/*
 * Name of the first profile in @folder (without .ini) whose `match` finds this machine; of the files of classes
 * (profile-class.h) where @class, else of the others. 0; -ENOENT: none; -ENOMEM. free() it.
 */
int profile_match_shipped(const char *folder, int root_fd, bool class, char **ret);
