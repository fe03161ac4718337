/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The header of a message of D-Bus as it comes from a bus: the D-Bus specification, "Message Format". */

#include <stddef.h>
#include <stdint.h>

#define DBUS_HEADER_TEXT 256 /* a name of D-Bus has at most 255 bytes; a longer path is none that we keep */

enum dbus_header_type { DBUS_HEADER_CALL = 1, DBUS_HEADER_RETURN, DBUS_HEADER_ERROR, DBUS_HEADER_SIGNAL };

struct dbus_header {
        uint8_t type;
        uint32_t serial;
        /* "": it has none. */
        char path[DBUS_HEADER_TEXT], interface[DBUS_HEADER_TEXT], member[DBUS_HEADER_TEXT];
        char destination[DBUS_HEADER_TEXT], sender[DBUS_HEADER_TEXT];
};

/* Of the first @n bytes of a message. 0; -EINVAL: it is none, or its header goes on behind them. */
int dbus_header_parse(const char *bytes, size_t n, struct dbus_header *ret);
