/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The header of a D-Bus message as it comes from a bus: see the D-Bus specification, "Message Format". */

#include <stddef.h>
#include <stdint.h>

#define DBUS_HEADER_TEXT 256 /* D-Bus names have at most 255 bytes; longer paths are not kept */

enum dbus_header_type { DBUS_HEADER_CALL = 1, DBUS_HEADER_RETURN, DBUS_HEADER_ERROR, DBUS_HEADER_SIGNAL };

struct dbus_header {
        uint8_t type;
        uint32_t serial;
        /* "": the message has no such field. */
        char path[DBUS_HEADER_TEXT], interface[DBUS_HEADER_TEXT], member[DBUS_HEADER_TEXT];
        char destination[DBUS_HEADER_TEXT], sender[DBUS_HEADER_TEXT];
};

/* Parses the first @n bytes of a message. 0; -EINVAL: they are no message, or do not contain its whole header. */
int dbus_header_parse(const char *bytes, size_t n, struct dbus_header *ret);
