/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session that is on the screen, where we were not started in it: by sudo, by a timer. Root becomes its
 * user before it reads a word of it, and takes from one of its programs how to reach the display.
 */

#include <sys/types.h>

/*
 * 0: this process is in a session now (or was before), as WAYLAND_DISPLAY or DISPLAY say; -ENOENT: nobody has
 * one on the screen, it is a console's; another negative errno.
 */
int session_enter(void);

/* Whose graphical session the seat shows. -ENOENT: none's. */
int session_user(uid_t *ret);
