/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The user's D-Bus, where a desktop's own code (a KWin script, a GNOME Shell extension) calls us. We are
 * org.joulecast.Focus and believe only the process that owns the desktop's name. sd-bus stops here.
 */

#include <sys/types.h>

#include "backend.h"

#define BUS_NAME "org.joulecast.Focus"
#define BUS_PATH "/org/joulecast/Focus"

struct bus;

/*
 * @desktop: the desktop's well-known name, e.g. "org.kde.KWin"; -EHOSTUNREACH where nobody owns it.
 * Calls of Window(pid, class, desktop file), Focus(pid, app id, locked) and Unknown() go to @sink.
 */
int bus_open(struct focus_sink *sink, const char *desktop, struct bus **ret);
void bus_close(struct bus *bus);
int bus_fd(const struct bus *bus);
int bus_dispatch(struct bus *bus); /* <0: the bus or the desktop is gone */

/* A method with up to two strings in; an integer out if @ret is not NULL. */
int bus_call(struct bus *bus, const char *path, const char *interface, const char *method, const char *first,
             const char *second, int *ret);

/* Why there is no use in trying: no bus. NULL: there is one. */
const char *bus_probe(void);
