/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The source of the screen: whether it is on, and who has it, each change at
 * its own time. Who has it is told by the focus agents of graphical sessions
 * and, without one, by the text console.
 */

#include "app/app.h"
#include "screen-log.h"
#include "source/source.h"
#include "util/log.h"

struct focus_options {
        int root_fd;             /* only used during the call */
        const char *socket_path; /* of the agents; NULL: none is listened to */
        bool console;            /* where no agent knows, the foreground job of the text console */
        struct apps *apps;       /* not owned; the same that name the processes. May be NULL if nobody is listened to */
        const struct log *log;
};

/* 0; a negative errno. A socket that cannot be made is a warning. */
int focus_open(const struct focus_options *options, struct source **ret);

bool is_focus(const struct source *source);

/*
 * Who may say who has the screen (poller/session.c knows the sessions).
 * Without it everybody may, the newest wins.
 */
void focus_set_guard(struct source *source, bool (*may_speak)(void *data, uid_t uid), void *data);
void focus_session_changed(struct source *source, uint64_t boottime_ns); /* ask the guard again */
void focus_set_locked(struct source *source, uint64_t boottime_ns, bool locked);
void focus_look(struct source *source, uint64_t boottime_ns); /* the screen may have changed just now */

/* What is known now; for tests and doctor. */
const struct screen_inputs *focus_now(const struct source *source);
