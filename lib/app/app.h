/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A process is not an app. Which app a process belongs to: by its control
 * group where the desktop follows the XDG rules, by what flatpak, snap and
 * Steam say where it does not, by its ancestors where a login session or a
 * launcher has swallowed everything.
 *
 * Ids: "org.mozilla.firefox" (a desktop entry's), "snap:NAME", "steam:NUMBER", "android:UID" (Waydroid),
 * "sys:UNIT", "usr:UNIT", "ctr:CONTAINER", and the bare name of the program where
 * nothing better is known.
 */

#include "desktop-entry.h"
#include "source/sample.h"

/* What a caller has read anyway (/proc/PID/stat, the owner of /proc/PID). */
struct app_process {
        pid_t pid;
        pid_t ppid;
        uint64_t start_time;
        uid_t uid;
        const char *comm; /* may hold anything */
};

struct apps; /* remembers processes by (pid, start time) and control groups by path */

/*
 * @root_fd: the machine's root folder, with proc/ and the folders of desktop entries
 * @index:   taken over; NULL: read the system's
 */
int apps_new(int root_fd, struct desktop_index *index, struct apps **ret);
void apps_free(struct apps *apps);
void apps_freep(struct apps **apps);

/**
 * apps_find() - the app of a process
 * @ret: APP_ID_MAX bytes; printable
 *
 * A process that is seen again costs one hash look-up. It is looked at anew when its comm changed (it
 * executed something else) and once more after its first sight, because a launcher moves it to its own
 * group a moment after the fork.
 *
 * Return: 0; -ENOMEM.
 */
int apps_find(struct apps *apps, const struct app_process *process, char *ret);

/**
 * apps_find_ended() - the app of a process that ended and was never asked for
 * @cgroup: path of its control group (v2); NULL, "/": not known, and taken to be its parent's
 *
 * Nothing is read: its /proc is gone, or another's by now. For callers that tell of ends (apps_forget()).
 *
 * Return: 0; -ENODATA: neither group nor parent tell; what its program is called is the best guess.
 */
int apps_find_ended(struct apps *apps, const struct app_process *process, const char *cgroup, char *ret);

/**
 * apps_find_window() - the app of a window, as the compositor tells it
 * @pid:        of the window's client; 0: the compositor does not say
 * @start_time: of that process, in clock ticks as /proc/PID/stat has it
 * @app_id:     Wayland app id, desktop id or X11 class; "": not told
 *
 * Corrects apps_find() from here on: a browser that was started from a terminal is its own app, with its
 * children.
 * Return: 0; -ENODATA: neither pid nor app id lead to anything; -ENOMEM.
 */
int apps_find_window(struct apps *apps, pid_t pid, uint64_t start_time, const char *app_id, char *ret);

/* A compositor, X server, panel or launcher: having the text console, it has it for others. */
bool apps_is_desktop(struct apps *apps, pid_t pid);

/**
 * app_program_of() - name of the program that a process runs
 * @proc_fd: of the folder /proc
 * @pid:     as text
 * @comm:    of the process
 * @name:    gets it, printable
 *
 * argv[0] or the script's name where comm agrees with it, else the name of the executable file. For a process
 * without an app that is also its app's id.
 */
void app_program_of(int proc_fd, const char *pid, const char *comm, char *name, size_t size);

/* Forgets processes that were not asked for since the call before; once a poll. */
void apps_sweep(struct apps *apps);

/*
 * For a caller that does not ask for every process in each poll: once a poll in which it did not, and it asks
 * for the young ones at least, and again for all when the number of corrections is another.
 */
void apps_next(struct apps *apps);
void apps_forget(struct apps *apps, pid_t pid, uint64_t start_time); /* it ended, and so it tells of each that does */
uint32_t apps_corrections(const struct apps *apps); /* by windows */

/* What people call it: the desktop entry's name, else the id without its prefix. Returns @buf. */
char *app_name(const struct desktop_index *index, const char *app, char *buf, size_t size);
