/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of lib/app only. */

#include "app-unit.h"
#include "app.h"
#include "util/hash.h"

enum app_lead {
        LEAD_NOT = 0,
        LEAD_SHELL,   /* an interactive shell: what it starts is another app */
        LEAD_SESSION, /* login, sshd, a display manager: what it starts is a session */
        LEAD_DESKTOP, /* a compositor, panel or launcher */
};

struct app_cgroup {
        UT_hash_handle hh;
        char *path;
        size_t n_entries;   /* processes in it; freed with the last, as each start of an app makes a new group */
        struct cgroup_app parsed;
        bool launcher;      /* the unit of a launcher, which also contains the apps that it started */
        char id[APP_ID_MAX]; /* that of the desktop entry, if there is one */
};

struct app_entry {
        UT_hash_handle hh;
        pid_t pid, ppid;
        uint64_t start_time;
        uid_t uid;
        char comm[32];
        struct app_cgroup *cgroup;
        enum app_lead lead;
        bool own;       /* its children belong to it in any unit: Steam's reaper, a corrected window */
        bool top;       /* an app that a launcher started, or a child of one */
        bool corrected; /* by a window */
        bool sandboxed; /* in a flatpak */
        bool kernel;    /* a kernel thread; kworkers change their comm all the time */
        bool again;     /* classify it again even if its group is the same */
        uint8_t looks;       /* 2: classified in two sweeps, after a launcher has moved it to its group */
        uint32_t look_sweep; /* sweep of the last look */
        uint32_t seen;  /* sweep in which it was last asked for */
        char app[APP_ID_MAX];
};

struct apps {
        int root_fd;
        struct desktop_index *index; /* by app_index() */
        bool read;
        struct app_exe exe;
        struct app_entry *entries;  /* by pid */
        struct app_cgroup *cgroups; /* by path */
        uint32_t sweep;
        uint32_t refreshed;   /* sweep in which the desktop entries were last read */
        uint32_t corrections; /* by windows */
        bool told_of_ends;    /* the caller reports all ends, so a known pid was not reused */
};

/* app.c, for app-ended.c and app-window.c */
struct app_entry *app_entry_find(const struct apps *apps, pid_t pid); /* or NULL */
const struct desktop_index *app_index(struct apps *apps);
void app_cgroup_read(struct apps *apps, const char *path, struct app_cgroup *cgroup); /* sets all but its path */
void app_desktop_id(const struct desktop_entry *entry, char *ret); /* an app's id by its desktop entry */
/* true: the control group alone names the app. */
bool app_of_cgroup(const struct app_cgroup *cgroup, uid_t uid, char *app);

/* /proc/PID, all relative to root_fd. 0 or a negative errno. */
int app_process_read(int root_fd, pid_t pid, struct app_process *process, char *comm, size_t size);
int app_process_read_cgroup(int root_fd, pid_t pid, char *path, size_t size);
/* NUL-separated words of cmdline or environ, truncated to @size. Their length, or a negative errno. */
ssize_t app_process_read_words(int root_fd, pid_t pid, const char *file, char *buf, size_t size);
/* The value of NAME= among NUL-separated words, or NULL. */
const char *app_process_words_value(const char *words, ssize_t length, const char *name);
/* The AppImage, else app_program_of(). */
void app_process_read_program(const struct apps *apps, const struct app_entry *entry, char *buf, size_t size);
/* The script that an interpreter runs; false: no interpreter, or no script. */
bool app_process_read_script(int root_fd, const struct app_entry *entry, char *buf, size_t size);
/* Are the root folder and /.flatpak-info tmpfs, by this mountinfo? */
bool app_flatpak_mounted_safely(const char *mounts);
int app_flatpak_read(int root_fd, pid_t pid, char *id, size_t size); /* -ENODATA: not in a flatpak */
int app_process_read_steam(int root_fd, const struct app_entry *entry, unsigned *number);
bool app_process_is_kernel(int root_fd, const struct app_entry *entry);
enum app_lead app_lead_of(int root_fd, const struct app_entry *entry);
bool app_lead_is_launcher(const char *id); /* a unit of this id holds other apps */
