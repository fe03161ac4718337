/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether the built-in screen is on, and how bright: from the backlight and
 * the connectors of the kernel, on kept descriptors (a few microseconds for
 * all). Blanking by bl_power or by the connector makes no event, so it is read
 * at each poll as well as on each uevent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen;

int screen_open(int root_fd, struct screen **ret); /* -ENODEV: no backlight and no connector */
void screen_close(struct screen *screen);

/* 0; -ENODATA: nothing can be read (any more). @brightness is raw, or BRIGHTNESS_UNKNOWN. */
int screen_read(struct screen *screen, bool *on, uint32_t *brightness);

/*
 * The kernel's uevents (NETLINK_KOBJECT_UEVENT), without a library and without udevd.
 * uevent_open() returns a descriptor, or a negative errno.
 */
int uevent_open(void);
/* Reads what is there; true if one was of the subsystems backlight, drm or graphics. */
bool uevent_read_screen(int fd);
/* One message, the kernel's own or udev's: is it of such a subsystem? Text from outside. */
bool uevent_is_of(const char *message, size_t length, const char *subsystem);
bool uevent_is_screen(const char *message, size_t length);
