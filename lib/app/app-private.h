/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of lib/app only. */

#include <string.h>

#include "app-command.h"
#include "app-unit.h"
#include "app.h"
#include "util/hash.h"

#define ANCESTORS_MAX 64 /* no desktop has longer chains of forks */

struct app_cgroup {
        UT_hash_handle hh;
        char *path;
        size_t n_entries;   /* processes in it; freed with the last, as each start of an app makes a new group */
        struct cgroup_app parsed;
        const struct lead_line *line; /* the unit is named after a program that leads others: these decide */
        bool led;           /* a user's service in which a desktop or terminal runs: the same */
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
        bool adopted;   /* a wrapper that has the app of the program which it started */
        bool asked;     /* whether it is a wrapper that the table does not list, when its first child was seen */
        bool wraps;     /* it is one */
        bool corrected; /* by a window */
        bool sandboxed; /* in a flatpak */
        bool ended;     /* before it was looked at: its files are gone, or another's */
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

/* app.c */
struct app_entry *app_entry_find(const struct apps *apps, pid_t pid); /* or NULL */
const struct desktop_index *app_index(struct apps *apps);
void app_desktop_id(const struct desktop_entry *entry, char *ret); /* an app's id by its desktop entry */

/* /proc/PID, all relative to root_fd. 0 or a negative errno. */
int app_process_read(int root_fd, pid_t pid, struct app_process *process, char *comm, size_t size);
int app_process_read_cgroup(int root_fd, pid_t pid, char *path, size_t size);
/* NUL-separated words of cmdline or environ, truncated to @size. Their length, or a negative errno. */
ssize_t app_words_read(int dir_fd, const char *path, char *buf, size_t size);
ssize_t app_process_read_words(int root_fd, pid_t pid, const char *file, char *buf, size_t size);
/* The value of NAME= among NUL-separated words, or NULL. */
const char *app_process_words_value(const char *words, ssize_t length, const char *name);
/* Are the root folder and /.flatpak-info tmpfs, by this mountinfo? */
bool app_flatpak_mounted_safely(const char *mounts);
int app_flatpak_read(int root_fd, pid_t pid, char *id, size_t size); /* -ENODATA: not in a flatpak */
int app_process_read_steam(int root_fd, const struct app_entry *entry, unsigned *number);
bool app_process_is_kernel(int root_fd, const struct app_entry *entry);
/* By comm, and where that is a shell or an interpreter by the arguments. */
enum app_lead app_lead_of(const struct apps *apps, const struct app_entry *entry);
static inline void app_set(struct app_entry *entry, const char *app)
{
        if (entry->app != app)
                snprintf(entry->app, sizeof(entry->app), "%s", app);
}

/* Sets its app and flags; its ancestors are known. One that ended may get no app. */
void app_classify(struct apps *apps, struct app_entry *entry, struct app_entry *parent);
/* Does the unit's name alone determine the app of all its processes? */
bool app_unit_decides(const struct app_cgroup *cgroup);

/* app-wrap.c */
/* A wrapper belongs to the program that it runs, so the process above it counts as its child's parent. */
const struct app_entry *app_above_wrappers(const struct apps *apps, const struct app_entry *parent);
/* A program whose arguments are the command line of its first child is a wrapper that the table does not list. */
void app_ask_wrapper(const struct apps *apps, const struct app_entry *child, struct app_entry *parent);
/* Wrappers get the first app that they start: a wrapper that of its children, and its parents that of the process. */
void app_adopt(const struct apps *apps, struct app_entry *entry, struct app_entry *parent);

/* The other processes of its control group are classified again. */
void app_look_again(const struct apps *apps, const struct app_entry *entry);
/* A user's service in which a desktop or terminal runs is not one app. Those that were seen before look again. */
void app_mark_led(struct apps *apps, const struct app_entry *entry);

/* app-program.c: the program that a living process runs */
struct app_program {
        struct app_command command;
        char exe[APP_PROGRAM_MAX];  /* the executable file, as far as it can be read */
        /* the program, script, jar, class or Windows program, with its folder where known */
        char path[APP_PROGRAM_MAX];
        char name[APP_ID_MAX];      /* app_command_name() of that, or of the program that a wrapper runs */
        bool bundled;               /* an app with its own runtime: @path is the app's folder */
        bool alone;                 /* a Windows or Java program: the one that starts it is another app */
};

void app_program_read(const struct apps *apps, const struct app_entry *entry, struct app_program *ret);

/* app-match.c: which running app a window's id belongs to */

/* How well an id fits a running app, from the worst to the best. */
enum app_fit {
        APP_FIT_NOT,
        APP_FIT_PART,  /* the words of one name are in the other: "libreoffice-writer", org.libreoffice.LibreOffice */
        APP_FIT_WORDS, /* the words of each name are in the other: "google-chrome", "com.google.Chrome" */
        APP_FIT_NAME,  /* a program, snap or StartupWMClass of the app */
        APP_FIT_SAME,  /* its id */
};

/* By the words of both ids alone: APP_FIT_NOT, _PART or _WORDS. */
enum app_fit app_fit_words(const char *app, const char *window);

/* A window's id, and its desktop entry. */
struct app_window {
        const char *id;
        const struct desktop_entry *entry; /* valid until the entries are read again; or NULL */
        char app[APP_ID_MAX];              /* the app that it names, whether that runs or not; "": it names none */
        bool nameless;                     /* as any game may have it: "steam_app_default" */
};

void app_window_read(struct apps *apps, const char *id, struct app_window *ret);
enum app_fit app_window_fit(struct apps *apps, const struct app_window *window, const char *app);

/**
 * app_match_window() - the running app that a window's id belongs to
 * @least: the worst fit that counts
 * @ret:   APP_ID_MAX bytes
 *
 * The app that fits best. Processes that started since the last poll count, too.
 * Return: false if none fits, or if several fit equally well.
 */
bool app_match_window(struct apps *apps, const char *app_id, enum app_fit least, char *ret);

/* Is it an X server, or a program that shows the windows of others? Its pid is not that of a window's app. */
bool app_is_bridge(const struct app_entry *process);
