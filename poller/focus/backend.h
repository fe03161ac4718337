/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-focus: one in each graphical session. A back-end watches one
 * desktop and reports who has the foreground; the agent lets it settle and
 * tells the service. Titles of windows are never kept, sent or shown.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "focus/focus-link.h"
#include "util/log.h"

/* Who has the foreground. All zeroes: unknown. */
struct focus_state {
        bool known;
        bool locked;
        pid_t pid;                  /* of the window's client; 0: not told */
        char app_id[FOCUS_APP_MAX]; /* neither: nobody */
};

/* What a back-end gives its reports to. */
struct focus_sink {
        void (*report)(struct focus_sink *sink, const struct focus_state *state);
        const struct log *log;
};

struct backend; /* each file's own */

/*
 * A const table of functions for each desktop. One file descriptor (epoll, if it has several) is all that
 * wakes it: nothing is asked again and again.
 */
struct backend_ops {
        const char *name;
        const char *(*probe)(void); /* cheap: NULL, or why it makes no sense to try here */
        int (*open)(struct focus_sink *sink, struct backend **ret); /* must report a real first state soon */
        int (*fd)(const struct backend *backend);
        int (*dispatch)(struct backend *backend); /* <0: the desktop is gone */
        int (*tick)(struct backend *backend);     /* the service's poll, for those that hear of no changes; or NULL */
        void (*close)(struct backend *backend);
        bool patient; /* is kept without a first state: it will come when the user switches something on */
};

extern const struct backend_ops sway_backend, hyprland_backend, niri_backend, gamescope_backend, kwin_backend,
        gnome_backend, wlr_backend, x11_backend, i3_backend, peers_backend, console_backend;

/* In the order in which they are tried; NULL at the end. */
extern const struct backend_ops *const backends[];

/* Fills @state with a client and its name, which is cut and made printable. */
void focus_state_set(struct focus_state *state, pid_t pid, const char *app_id);
void focus_report(struct focus_sink *sink, pid_t pid, const char *app_id); /* known; pid 0 and "" are nobody */
void focus_report_unknown(struct focus_sink *sink);

/* CLOCK_BOOTTIME, the only clock of the link. */
uint64_t focus_now_ns(void);
