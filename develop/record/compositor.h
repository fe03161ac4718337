/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A Wayland compositor of its own for a program: sway, without a screen, in a folder of its own. */

#include <sys/types.h>

struct compositor {
        pid_t pid;
        char folder[64]; /* "": there is none */
        int folder_fd;
        char socket[96]; /* for WAYLAND_DISPLAY */
};

/*
 * @width, @height: of its screen, in pixels
 *
 * 0; -ENOENT: sway is not there; another negative errno. compositor_stop() it in any case.
 */
int compositor_start(unsigned width, unsigned height, struct compositor *ret);
void compositor_stop(struct compositor *compositor);
