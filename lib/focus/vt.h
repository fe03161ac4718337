/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The text console: which virtual terminal is active, and which job of it has
 * the foreground. A change of the terminal can be waited for (POLLPRI); a
 * change of the job makes no event and is read at a poll: a file or three,
 * and those of processes that are new where nobody has the terminal.
 */

#include <sys/types.h>

struct vt;

int vt_open(int root_fd, struct vt **ret); /* -ENODEV: this machine has no virtual terminals */
void vt_close(struct vt *vt);
int vt_fd(const struct vt *vt); /* POLLPRI when another terminal became active; read with vt_active() */

/* Number of the active terminal; -ENODATA. */
int vt_active(struct vt *vt);

/*
 * The leader of the foreground job of the active terminal. 0; -ENODATA: nobody has this terminal;
 * -EBUSY: it shows graphics, so what has the foreground is the compositor's to say.
 */
int vt_foreground(struct vt *vt, pid_t *ret);
