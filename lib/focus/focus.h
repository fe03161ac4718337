/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The source of the screen: whether it is on, and which app is in the foreground, with the time of each
 * change. The app comes from the focus agents of graphical sessions or, without one, from the text console.
 */

#include "app/app.h"
#include "screen-log.h"
#include "source/source.h"
#include "util/log.h"

struct focus_options {
        int root_fd;             /* only used during the call */
        const char *socket_path; /* where agents connect; NULL: no agents */
        bool console;            /* use the foreground job of the text console while no agent knows */
        const char *foreground; /* source of the app (focus.c), instead of agents and console; NULL: none */
        const char *backlight;   /* see display_choose() */
        struct apps *apps;       /* not owned; the process collector's. May be NULL without socket_path and console */
        const struct log *log;
};

/* 0; a negative errno. If the socket cannot be created, that is only logged. */
int focus_open(const struct focus_options *options, struct source **ret);

bool focus_is(const struct source *source);

/* Sets which users' agents are accepted (poller/session.c). Without it all are, and the newest wins. */
void focus_set_guard(struct source *source, bool (*may_speak)(void *data, uid_t uid), void *data);
/* Called with the processes that play or record now, as agents report; see struct focus_link_ops. */
void focus_set_sound(struct source *source, void (*sound)(void *data, const pid_t *pids, size_t n, size_t others),
                     void *data);
/*
 * Called with the refresh rate of the built-in screen in mHz, as the active session's agent reports it, also
 * if unchanged; 0: unknown.
 */
void focus_set_refresh(struct source *source, void (*refresh)(void *data, uint32_t mhz), void *data);
void focus_session_changed(struct source *source, uint64_t boottime_ns); /* calls @may_speak again */
void focus_set_locked(struct source *source, uint64_t boottime_ns, bool locked);
void focus_look(struct source *source, uint64_t boottime_ns); /* reads the screen, which may have changed */

/* The current state; for tests and doctor. */
const struct screen_inputs *focus_now(const struct source *source);
