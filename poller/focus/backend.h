/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-focus runs once in each graphical session. A back-end watches one desktop and reports which app
 * has the focus; the agent waits until a report is stable and sends it to the service. Window titles are
 * never stored, sent or logged.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "focus/focus-link.h"
#include "util/log.h"

/* Which app has the focus. All zeroes: unknown. */
struct focus_state {
        bool known;
        bool locked;
        pid_t pid;                  /* process of the window's client; 0: unknown */
        char app_id[FOCUS_APP_MAX]; /* known, but neither pid nor app_id: no app has the focus */
};

/* Receives a back-end's reports. */
struct focus_sink {
        void (*report)(struct focus_sink *sink, const struct focus_state *state);
        const struct log *log;
};

struct backend; /* defined by each back-end; begins with a struct backend_base */

/* Back-ends never poll: one file descriptor (an epoll descriptor if there are several) wakes them. */
struct backend_ops {
        const char *name;
        size_t size;                /* sizeof this back-end's struct backend */
        const char *(*probe)(void); /* cheap check: NULL, or the reason why this back-end cannot work here */
        int (*start)(struct backend *backend); /* sets base.fd; must report a first state soon */
        int (*dispatch)(struct backend *backend); /* <0: the desktop is gone */
        int (*tick)(struct backend *backend); /* called at each poll of the service; NULL: not needed */
        void (*stop)(struct backend *backend); /* also after start() failed */
        bool patient; /* kept without a first state, which comes when the user enables something */
};

struct backend_base {
        const struct backend_ops *ops;
        struct focus_sink *sink;
        int fd; /* readable: call dispatch(); -1 until start() sets it */
};

int backend_open(const struct backend_ops *ops, struct focus_sink *sink, struct backend **ret);
void backend_close(struct backend *backend);
int backend_fd(const struct backend *backend);

extern const struct backend_ops sway_backend, hyprland_backend, niri_backend, gamescope_backend, kwin_backend,
        gnome_backend, wlr_backend, x11_backend, i3_backend, peers_backend;

/* In the order in which they are tried; NULL at the end. */
extern const struct backend_ops *const backends[];

/* Fills @state with a client and its name, truncated and made printable. */
void focus_state_set(struct focus_state *state, pid_t pid, const char *app_id);
void focus_report(struct focus_sink *sink, pid_t pid, const char *app_id); /* 0 and "": no app has the focus */
void focus_report_unknown(struct focus_sink *sink);
