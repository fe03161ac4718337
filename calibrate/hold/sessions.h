/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The users' sessions at this machine's seats, as the session manager knows them
 * (org.freedesktop.login1(5)): one that gets the screen, is unlocked or is no longer idle has its user
 * before it. Only changes count: many desktops never say that they are idle, and a session that was there
 * before the calibration is whoever started it.
 */

#include <stdbool.h>

#include "util/log.h"

struct sessions;

/* -ENOSYS: built without libsystemd; -ENODATA: nobody knows sessions here. */
int sessions_open(const struct log *log, struct sessions **ret);
void sessions_close(struct sessions *sessions);   /* NULL is nothing */
int sessions_fd(const struct sessions *sessions); /* readable: there is news; -1: never again */

enum {
        SESSIONS_ENTERED = 1 << 0, /* one began, got the screen or was unlocked */
        SESSIONS_WOKEN = 1 << 1,   /* one is no longer idle; an idle inhibitor does that, too */
};
unsigned sessions_hear(struct sessions *sessions); /* since it was asked last */
