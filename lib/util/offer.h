/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Words that a user could have meant, such as the names of the .ini files that come with joulecast. */

#include <stddef.h>

#include "log.h"

/*
 * A sentence for a user who asked for what is not among @words: "did you mean nexus-7? There are ...", or "there are
 * ..."; "there are none" if @n is 0. Returns @buf.
 */
char *offer_words(const char *const *words, size_t n, const char *asked, char *buf, size_t size);
/* The same with the names of the .ini files in a folder. */
char *offer_names(const char *folder, const char *name, char *buf, size_t size);

/* The names, one per line; free() it. NULL: no such folder, or no memory. */
char *offer_list(const char *folder);

/*
 * Finds the path of the file with this name in a folder of paths_data(); a name with a / or .ini in it is any file. If
 * there is none, the log gets the sentence, in which @what is the kind of file. 0; -ENOENT; another negative errno.
 */
int offer_find(const char *kind, const char *what, const char *name, const struct log *log, char **ret);
