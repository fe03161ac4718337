/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Versions of a profile. Before PROFILE is replaced, its content is kept as PROFILE.DATE beside it, such as
 * profile.ini.2026-11-23T081530Z, then ...Z.2 within the same second. A version that is not in the sequence of those in
 * use (it was undone, or was worse than the one it would have replaced) is PROFILE.DATE.unused. Names sort by age even
 * if the clock goes back.
 */

#include <stdbool.h>
#include <stddef.h>

/* If there are more, the oldest is removed, but never the newest calibration: later learning can be repeated. */
#define PROFILE_VERSIONS_MAX 10

struct profile_version {
        char date[24];
        unsigned number; /* within a second, from 1 */
        bool unused;
        char *path;
};

struct profile_history {
        struct profile_version *list; /* the newest first */
        size_t n;
};

int profile_history_read(const char *path, struct profile_history *ret);
void profile_history_clear(struct profile_history *history);

/*
 * Replaces the profile @path by @text. @kept: the path of the version before, free() it; NULL: there was none,
 * or it is the same. 0; a negative errno as from util_write_file(), and nothing has changed.
 */
int profile_history_replace(const char *path, const char *text, char **kept);

/* Only writes @text beside the profile @path, as an unused version. @put: its path, free() it. */
int profile_history_put(const char *path, const char *text, char **put);

/* Removes the profile @path, and keeps it as the last version. @kept: its path, free() it. */
int profile_history_remove(const char *path, char **kept);

/*
 * Goes back to the last version. @back: the path that it had; @unused: the path of the profile that was in use, NULL
 * if there was none. free() both. -ENODATA: there is none to go back to; -EINVAL: it is no valid profile.
 */
int profile_history_undo(const char *path, char **back, char **unused);
