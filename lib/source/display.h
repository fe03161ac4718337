/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The built-in screen, from the kernel's backlights and connectors (sys/class/backlight, sys/class/drm). */

#include <stdbool.h>
#include <stdint.h>

/* What the machine does not have is unset. */
struct display_state {
        char backlight[64];      /* name; "": none */
        uint32_t max_brightness; /* 0: unknown */
        bool screen_known;
        bool screen_on;
        uint32_t brightness;     /* the driver's value; BRIGHTNESS_UNKNOWN without a backlight */
};

/*
 * For the service, which keeps the files open, so that a read takes a few microseconds. Blanking by bl_power or the
 * connector causes no uevent, so it reads at each poll as well as on uevents.
 */
struct display_files;

int display_open(int root_fd, struct display_files **ret); /* -ENODEV: no backlight and no connector */
void display_close(struct display_files *files);
int display_read(const struct display_files *files, struct display_state *ret); /* 0; -ENODATA */

/* All at once. 0; -ENODEV: no backlight and no connected screen; -ENOMEM. */
int display_look(int root_fd, struct display_state *ret);
