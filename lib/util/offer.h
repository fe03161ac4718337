/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The .ini files that come with joulecast, by their names. */

#include <stddef.h>

#include "log.h"

/*
 * The names of the .ini files in a folder, for someone who asked for @name, which is none of them: "did you mean
 * nexus-7? There are ...", or "there are ..."; "there are none" in a folder without any. Returns @buf.
 */
char *offer_names(const char *folder, const char *name, char *buf, size_t size);

/* The names, one a line; free() it. NULL: no such folder, or no memory. */
char *offer_list(const char *folder);

/*
 * The path of the file that has this name in a folder of paths_data(), or of any file: a name with a / or .ini in it.
 * Else the log gets the sentence, in which @what is what was looked for. 0; -ENOENT; another negative errno.
 */
int offer_find(const char *kind, const char *what, const char *name, const struct log *log, char **ret);
