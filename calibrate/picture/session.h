/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Enters the session on the screen when started outside of it, by sudo or a timer. Root becomes the session's
 * user first, and takes the display's address from one of the user's processes.
 */

#include <sys/types.h>

/*
 * 0: this process is (or was) in a session, as WAYLAND_DISPLAY or DISPLAY say; -ENOENT: the screen shows a
 * console; another negative errno.
 */
int session_enter(void);

/* The user of the session on the screen. -ENOENT: none. */
int session_user(uid_t *ret);
