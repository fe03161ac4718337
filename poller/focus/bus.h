/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The D-Bus session bus, on which a desktop's own code (a KWin script, a GNOME Shell extension) calls us as
 * org.joulecast.Focus. Only calls from the owner of the desktop's bus name are accepted. No other file of the
 * agent uses sd-bus.
 */

#include <sys/types.h>

#include "backend.h"

#define BUS_NAME "org.joulecast.Focus"
#define BUS_PATH "/org/joulecast/Focus"

struct bus;

/*
 * @desktop: the desktop's well-known name, e.g. "org.kde.KWin". -EHOSTUNREACH: the name has no owner.
 * Window(pid, class, desktop file), Focus(pid, app id, locked) and Unknown() are reported to @sink.
 */
int bus_open(struct focus_sink *sink, const char *desktop, struct bus **ret);
void bus_close(struct bus *bus);
int bus_fd(const struct bus *bus);
int bus_dispatch(struct bus *bus); /* <0: the bus or the desktop is gone */

/* Calls a method of the desktop with up to two strings. @ret, if not NULL, gets the integer it returns. */
int bus_call(struct bus *bus, const char *path, const char *interface, const char *method, const char *first,
             const char *second, int *ret);

/* NULL: there is a bus; else why not. */
const char *bus_probe(void);
