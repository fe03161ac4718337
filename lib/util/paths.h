/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Default paths of files. Users who can write the system's folders (root, the service) use these, others their
 * own (XDG); a virtual device has a folder of its own.
 *
 * @device is the value of --device: NULL for this machine, "virtual:NAME" or "virtual:FILE". Results are free()d.
 */

#include <stdbool.h>

/*
 * The profile, usage.db and observations.db. For reading (@write false) a user without a file of their own gets the
 * system's path. 0; -ENOENT: there is no home; -EINVAL: another kind of device; -errno: FILE cannot be read.
 */
int paths_profile(const char *device, bool write, char **ret);
int paths_usage(const char *device, bool write, char **ret);
int paths_observations(const char *device, char **ret);
/*
 * Files in which `joulecast learn` keeps the profile and the everyday observations: the service has them in its own
 * folder, from where paths_profile() takes the profile for reading as long as it is newer than the calibration's; other
 * users have them where both are anyway.
 */
int paths_learned(const char *device, char **ret);
int paths_everyday(const char *device, char **ret);
int paths_journal(char **ret); /* restore.ini: settings that an interrupted calibration must restore on this machine */
int paths_config(char **ret); /* joulecast.conf, for reading */
int paths_warned(char **ret); /* list of the warnings that the user has got, always the user's own */
int paths_page(char **ret);   /* the page that `joulecast report --open` shows, always the user's own */
int paths_plan(char **ret);      /* the plan that advise --apply has set, always the user's own */
int paths_plan_made(char **ret); /* journal of the changes of joulecast-focus for that plan, always the user's own */
int paths_limits(char **ret); /* limits.ini, always the user's own */

#define PATHS_SERVICE_SOCKET "/run/joulecast/joulecast.sock" /* where joulecastd answers questions */
/* File with the screen's refresh rate in mHz, which joulecastd writes for joulecast-share. */
#define PATHS_REFRESH_RATE "/run/joulecast/refresh-rate"
#define PATHS_FOCUS_SOCKET "/run/joulecast/focus.sock"       /* where joulecast-focus reports to joulecastd */

/*
 * The focus socket of this process: the system's if it exists or can be made; else
 * "joulecast/focus.sock" in the user's runtime folder.
 */
int paths_focus_socket(char **ret);

/*
 * Does this process use the system's file @path? True if the folder in which it is, or would be made, can be written,
 * as for root and the service; others have their own file.
 */
bool paths_is_systems(const char *path);

/* "virtual:x" -> "x"; NULL for this machine (or another kind of device). */
const char *paths_virtual(const char *device);

/*
 * Folder of the files that come with joulecast, @kind "profiles" or "virtual": $JOULECAST_DATADIR, else the source
 * tree if the program runs from its build folder, else where it was installed.
 */
int paths_data(const char *kind, char **ret);

/*
 * A folder of the installation (JOULECAST_DATADIR and others that meson sets), in the prefix of the running program: an
 * installation can be moved or unpacked elsewhere. free() it; NULL: no memory.
 */
char *paths_installed(const char *folder);

/*
 * The command that controls joulecastd for this user: "systemctl --user" if packaging/home/install, whose list of
 * files is beside the data, installed the program, else "sudo systemctl".
 */
const char *paths_systemctl(void);

/* The build folder of the running program, or NULL if it is installed. free() it. */
char *paths_build_root(void);
