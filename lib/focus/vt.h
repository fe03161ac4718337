/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The text console: the active virtual terminal and its foreground job. A change of the terminal is an event
 * (POLLPRI); a change of the job is not, so it is read at each poll: up to three files, and for an unused terminal
 * those of new processes.
 */

#include <sys/types.h>

struct vt;

int vt_open(int root_fd, struct vt **ret); /* -ENODEV: this machine has no virtual terminals */
void vt_close(struct vt *vt);
int vt_fd(const struct vt *vt); /* POLLPRI when another terminal became active; read with vt_active() */

/* Number of the active terminal; -ENODATA. */
int vt_active(struct vt *vt);

/*
 * The leader of the foreground job of the active terminal. 0; -ENODATA: no process has this terminal; -EBUSY: it
 * shows graphics, so only the compositor knows the foreground.
 */
int vt_foreground(struct vt *vt, pid_t *ret);
