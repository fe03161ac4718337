/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Opens the kernel's uevents (NETLINK_KOBJECT_UEVENT), which need no udevd. A descriptor, or a negative errno. */
int uevent_open(void);
/* Reads all messages. Returns true if one was from the subsystems backlight, drm or graphics. */
bool uevent_read_screen(int fd);
/* Is a message, of the kernel or of udev, about this subsystem? It may hold any bytes. */
bool uevent_is_of(const char *message, size_t length, const char *subsystem);
bool uevent_is_screen(const char *message, size_t length);
