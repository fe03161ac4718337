/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Between the files of app: what is remembered, and what they read of a process. */

#include "app-unit.h"
#include "app.h"
#include "util/hash.h"

enum app_lead {
        LEAD_NOT = 0,
        LEAD_SHELL,   /* an interactive shell: what it starts is not it */
        LEAD_SESSION, /* login, sshd, a display manager: what it starts is a session */
        LEAD_DESKTOP, /* a compositor, panel or launcher */
};

/* One control group, by the text of its path. */
struct app_cgroup {
        UT_hash_handle hh;
        char *path;
        size_t n_entries;   /* that are in it; with the last one it goes: each start of an app makes another group */
        struct cgroup_app parsed;
        bool launcher;      /* the unit of a launcher: what is in it is not it */
        char id[APP_ID_MAX]; /* after a look at the desktop entries */
};

struct app_entry {
        UT_hash_handle hh;
        pid_t pid, ppid;
        uint64_t start_time;
        uid_t uid;
        char comm[32];
        struct app_cgroup *cgroup;
        enum app_lead lead;
        bool own;       /* its children belong to it whatever their unit says: Steam's reaper, a corrected window */
        bool top;       /* its group begins here, or above it below a launcher */
        bool corrected; /* by a window */
        bool sandboxed; /* flatpak said so itself */
        bool kernel;    /* a thread of the kernel; its workers change their comm all the time */
        bool again;     /* its app may be another, whatever its group */
        uint8_t looks;       /* 2: looked at in two sweeps, so it has arrived in its own group */
        uint32_t look_sweep; /* of the last one */
        uint32_t seen;  /* in which sweep */
        char app[APP_ID_MAX];
};

struct apps {
        int root_fd;
        struct desktop_index *index;
        struct app_entry *entries;  /* by pid */
        struct app_cgroup *cgroups; /* by path */
        uint32_t sweep;
        uint32_t refreshed;   /* the sweep in which the desktop entries were looked at */
        uint32_t corrections; /* by windows */
        bool told_of_ends;    /* a pid that is remembered was not reused */
};

/* app.c, for app-ended.c and app-window.c */
struct app_entry *app_entry_find(const struct apps *apps, pid_t pid); /* or NULL */
void app_cgroup_read(struct apps *apps, const char *path, struct app_cgroup *cgroup); /* all but its path */
bool app_of_cgroup(const struct app_cgroup *cgroup, uid_t uid, char *app); /* where the group says all */

/* /proc/PID, all relative to root_fd. 0 or a negative errno. */
int app_process_read(int root_fd, pid_t pid, struct app_process *process, char *comm, size_t size);
int app_process_read_cgroup(int root_fd, pid_t pid, char *path, size_t size);
/* Arguments with their NULs; the length, or a negative errno. A long one is cut. */
ssize_t app_process_read_words(int root_fd, pid_t pid, const char *file, char *buf, size_t size);
/* The value of NAME= among NUL-separated words, or NULL. */
const char *app_process_words_value(const char *words, ssize_t length, const char *name);
/* The AppImage, else the program's name (process.h). */
void app_process_read_program(int root_fd, const struct app_entry *entry, char *buf, size_t size);
/* What an interpreter runs; false: it is none, or runs no file. */
bool app_process_read_script(int root_fd, const struct app_entry *entry, char *buf, size_t size);
int app_flatpak_read(int root_fd, pid_t pid, char *id, size_t size); /* -ENODATA: not in a flatpak */
int app_process_read_steam(int root_fd, const struct app_entry *entry, unsigned *number);
bool app_process_is_kernel(int root_fd, const struct app_entry *entry);
enum app_lead app_lead_of(int root_fd, const struct app_entry *entry);
bool app_lead_is_launcher(const char *id); /* a unit of this id holds other apps */
