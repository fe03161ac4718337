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

/*
 * The app that the user calls so, in a cost: by its id, its name or a part of them. CODE_OK; CODE_NO_DATA
 * after its sentence: none, or several.
 */
int names_app_called(const struct cost *cost, const char *called, char ret[APP_ID_MAX]);
void names_localise(const struct desktop_index *index, struct cost *cost);
/*
 * @name as a table shows it: in quotes where it could be taken for a row of the table's own, like the base.
 * Returns @buf.
 */
char *names_in_table(const char *app, const char *name, char *buf, size_t size);
char *names_of(const struct options *options, const char *app, char *buf, size_t size); /* returns @buf */
