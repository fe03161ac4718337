/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How a frame is spelled: `function@dso`, alike for two builds of the same source. */

#include <stdbool.h>
#include <stddef.h>

#define FRAME_NAME_MAX 256
#define FRAME_CODE "[jit]" /* in place of the path of code that a program made while it ran */

/* The file's name, without the minor version of a library: libz.so.1 of /usr/lib/libz.so.1.2.13. Returns @buf. */
char *frame_dso(const char *path, char *buf, size_t size);
/*
 * Both. @symbol: NULL: it is not known, and the frame is [unknown]@dso. What would break a line of folded
 * stacks becomes "_".
 */
char *frame_name(const char *symbol, const char *path, char *buf, size_t size);
bool frame_is_unknown(const char *name);
