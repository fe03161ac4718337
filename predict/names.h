/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Names for people: the desktop entry's, in the user's language, else the id. A virtual device has no apps of this
 * machine.
 */

#include <stddef.h>

#include "app/desktop-entry.h"
#include "forecast/cost.h"
#include "options.h"

struct desktop_index *names_open(void); /* NULL: no entries can be read */
void names_localise(const struct desktop_index *index, struct cost *cost);
char *names_of(const struct options *options, const char *app, char *buf, size_t size); /* returns @buf */
