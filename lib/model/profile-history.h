/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Versions of a profile. Before PROFILE is replaced, what is there is kept as PROFILE.DATE beside it, such as
 * profile.ini.2026-11-23T081530Z, then ...Z.2 within the same second. One that is not in the line of those in use (it
 * was taken back, or was worse than the one it would have replaced) is PROFILE.DATE.unused. Names rise also where the
 * clock goes back.
 */

#include <stdbool.h>
#include <stddef.h>

/* Of more the oldest is removed, but never the newest by a calibration: what was learnt since can be learnt again. */
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
 * Puts @text in the place of the profile @path. @kept: the path of the version before, free() it; NULL: there was none,
 * or it is the same. 0; an errno as of util_write_file(), and nothing has changed.
 */
int profile_history_replace(const char *path, const char *text, char **kept);

/* Puts @text beside the profile @path only, unused. @put: where, free() it. */
int profile_history_put(const char *path, const char *text, char **put);

/* Removes the profile @path, and keeps it as the last version. @kept: where, free() it. */
int profile_history_remove(const char *path, char **kept);

/*
 * Goes back to the last version. @back: what its path was; @unused: that of the one that was in use, NULL where there was
 * none. free() both. -ENODATA: there is none to go back to; -EINVAL: it is no valid profile.
 */
int profile_history_undo(const char *path, char **back, char **unused);
