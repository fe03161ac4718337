/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * State and brightness of the built-in screen, from the kernel's backlights and connectors. The files stay open, so a
 * read takes a few microseconds. Blanking by bl_power or the connector causes no uevent, so they are read at each
 * poll as well as on uevents.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen;

int screen_open(int root_fd, struct screen **ret); /* -ENODEV: no backlight and no connector */
void screen_close(struct screen *screen);

/* 0; -ENODATA: nothing can be read. @brightness: the driver's value, or BRIGHTNESS_UNKNOWN. */
int screen_read(struct screen *screen, bool *on, uint32_t *brightness);

/* Opens the kernel's uevents (NETLINK_KOBJECT_UEVENT), which need no udevd. A descriptor, or a negative errno. */
int uevent_open(void);
/* Reads all messages; true: one was of the subsystems backlight, drm or graphics. */
bool uevent_read_screen(int fd);
/* Is a message, of the kernel or of udev, about this subsystem? It may hold any bytes. */
bool uevent_is_of(const char *message, size_t length, const char *subsystem);
bool uevent_is_screen(const char *message, size_t length);
