/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * User sessions at this machine's seats by logind (org.freedesktop.login1(5)). A session that gets the
 * screen, is unlocked or stops being idle has its user in front of it. Only changes count: many desktops
 * never report idleness, and sessions from before the calibration belong to whoever started it.
 */

#include <stdbool.h>

#include "util/log.h"

struct sessions;

/* -ENOSYS: built without libsystemd; -ENODATA: no session manager. */
int sessions_open(const struct log *log, struct sessions **ret);
void sessions_close(struct sessions *sessions);   /* NULL is nothing */
int sessions_fd(const struct sessions *sessions); /* readable: there is news; -1: never */

enum {
        SESSIONS_ENTERED = 1 << 0, /* began, got the screen or was unlocked */
        SESSIONS_WOKEN = 1 << 1,   /* stopped being idle; an idle inhibitor causes that, too */
};
unsigned sessions_hear(struct sessions *sessions); /* since the last call */
