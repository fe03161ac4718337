/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the app that a process belongs to: by its control group where the desktop follows the XDG rules, by the
 * conventions of flatpak, snap and Steam, else by its ancestors below a login session or launcher.
 *
 * Ids: "org.mozilla.firefox" (a desktop entry's), "snap:NAME", "steam:NUMBER", "android:UID" (Waydroid),
 * "sys:UNIT", "usr:UNIT", "ctr:CONTAINER", else the name of the program.
 */

#include "desktop-entry.h"
#include "source/sample.h"

/* From /proc/PID/stat and the owner of /proc/PID, which callers have read anyway. */
struct app_process {
        pid_t pid;
        pid_t ppid;
        uint64_t start_time;
        uid_t uid;
        const char *comm; /* may hold anything */
};

/*
 * Another way to the name of a process's executable file, without its folder, where /proc/PID/exe may not be read
 * (other users', without CAP_SYS_PTRACE). False: not known.
 */
struct app_exe {
        bool (*find)(void *data, pid_t pid, char *name, size_t size); /* NULL: there is none */
        void *data;
};

struct apps; /* remembers processes by (pid, start time) and control groups by path */

/*
 * @root_fd: the machine's root folder, with proc/ and the folders of desktop entries
 * @index:   taken over; NULL: read the system's
 */
int apps_new(int root_fd, struct desktop_index *index, struct apps **ret);
void apps_set_exe(struct apps *apps, struct app_exe exe);
void apps_free(struct apps *apps);
void apps_freep(struct apps **apps);

/**
 * apps_find() - the app of a process
 * @ret: APP_ID_MAX bytes; printable
 *
 * A known process costs one hash look-up. It is classified again when its comm changes (exec), and once in the
 * sweep after its first, because a launcher moves it to its own group some time after the fork.
 *
 * Return: 0; -ENOMEM.
 */
int apps_find(struct apps *apps, const struct app_process *process, char *ret);

/**
 * apps_find_ended() - the app of a process that ended before apps_find() was called for it
 * @cgroup: path of its control group (v2); NULL or "/": unknown, its parent's is used
 *
 * Reads no files, as /proc/PID is gone or reused. For callers that report ends (apps_forget()).
 *
 * Return: 0; -ENODATA: neither group nor parent name an app; the program's name is the best guess.
 */
int apps_find_ended(struct apps *apps, const struct app_process *process, const char *cgroup, char *ret);

/* The app of a process now. 0; -ENODATA: there is no such process; -ENOMEM. */
int apps_find_pid(struct apps *apps, pid_t pid, char *ret);

/**
 * apps_find_window() - the app of a window that a compositor reports
 * @pid:        of the window's client; 0: unknown
 * @start_time: of that process, in clock ticks as /proc/PID/stat has it
 * @app_id:     Wayland app id, desktop id or X11 class; "": unknown
 *
 * The app of the process. Without one, or where that is an X server or another that shows the windows of others, the
 * running app that @app_id belongs to: by its id, its desktop entry, its programs, or the words of both ids.
 *
 * A process of a session gets the app that a desktop entry names so, with its children: apps_find() is corrected from
 * then on. A terminal keeps its app, unless Steam started it.
 * Return: 0; -ENODATA: no such process, and no running app with this id, or several; -ENOMEM.
 */
int apps_find_window(struct apps *apps, pid_t pid, uint64_t start_time, const char *app_id, char *ret);

/* The running app that a window's id names with certainty. 0; -ENODATA: there is none, or it is only likely. */
int apps_find_front(struct apps *apps, const char *app_id, char *ret);

/* Is it an X server, or another program that shows the windows of others? It is not the app of any window. */
bool apps_is_bridge(struct apps *apps, pid_t pid);

/* Is it a compositor, X server, panel or launcher? Then it is not itself the foreground app of its console. */
bool apps_is_desktop(struct apps *apps, pid_t pid);

/**
 * app_program_of() - name of the program that a process runs
 * @proc_fd: of the folder /proc
 * @pid:     as text
 * @comm:    of the process
 * @name:    gets it, printable
 * @exe:     if /proc/PID/exe cannot be read; or NULL
 *
 * argv[0] or the script's name where comm agrees with it, else the name of the executable file. For a process
 * without an app that is also its app's id.
 */
void app_program_of(int proc_fd, const char *pid, const char *comm, const struct app_exe *exe, char *name,
                    size_t size);

/* Forgets the processes that were not asked for since the last call. Once per poll. */
void apps_sweep(struct apps *apps);

/*
 * Instead of apps_sweep() in polls in which the caller does not ask for all processes. It must ask for new ones in
 * each poll, and for all when apps_corrections() has changed.
 */
void apps_next(struct apps *apps);
/* A process ended. A caller that reports one end must report all. */
void apps_forget(struct apps *apps, pid_t pid, uint64_t start_time);
uint32_t apps_corrections(const struct apps *apps); /* by windows */

/* The name for people: the desktop entry's, else the id without its prefix. Returns @buf. */
char *app_name(const struct desktop_index *index, const char *app, char *buf, size_t size);
