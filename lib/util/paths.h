/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Default paths of files. Who can write the system's folders (root, the service) uses them, others their own (XDG); a virtual
 * device has a folder of its own.
 *
 * @device is the value of --device: NULL for this machine, "virtual:NAME" or "virtual:FILE". Results are free()d.
 */

#include <stdbool.h>

/*
 * The profile, usage.db and observations.db. For reading (@write false) a user without a file of their
 * own gets the system's path. 0; -ENOENT where there is no home; -EINVAL for another device; -errno of a
 * FILE that cannot be read.
 */
int paths_profile(const char *device, bool write, char **ret);
int paths_usage(const char *device, bool write, char **ret);
int paths_observations(const char *device, char **ret);
/*
 * Where `joulecast learn` writes the profile and keeps what everyday use showed: the service in its own folder, from where
 * paths_profile() takes the profile for reading as long as it is newer than the calibration's; others where both are anyway.
 */
int paths_learned(const char *device, char **ret);
int paths_everyday(const char *device, char **ret);
int paths_journal(char **ret); /* restore.ini, what an interrupted calibration must put back on this machine */
int paths_config(char **ret); /* joulecast.conf, for reading */
int paths_warned(char **ret); /* which warnings the user has got, always the user's own */
int paths_limits(char **ret); /* limits.ini, always the user's own */

#define PATHS_SERVICE_SOCKET "/run/joulecast/joulecast.sock" /* where joulecastd answers questions */
#define PATHS_REFRESH_RATE "/run/joulecast/refresh-rate"     /* of the screen in mHz, of joulecastd for joulecast-share */
#define PATHS_FOCUS_SOCKET "/run/joulecast/focus.sock"       /* where joulecast-focus reports to joulecastd */

/*
 * The focus socket of this process: the system's where it exists or can be made; else
 * "joulecast/focus.sock" in the user's runtime folder.
 */
int paths_focus_socket(char **ret);

/*
 * The system's file @path is ours: the folder that it is in, or would be made in, can be written. Root's and the
 * service's are; others have their own.
 */
bool paths_is_systems(const char *path);

/* "virtual:x" -> "x"; NULL for this machine (or another kind of device). */
const char *paths_virtual(const char *device);

/*
 * Folder of the files that come with joulecast, @kind "profiles" or "virtual": $JOULECAST_DATADIR, else the source
 * tree if the program runs from its build folder, else where it was installed.
 */
int paths_data(const char *kind, char **ret);

/* The build folder of the running program, or NULL if it is installed. free() it. */
char *paths_build_root(void);
