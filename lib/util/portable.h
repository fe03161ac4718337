/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions that glibc has and musl lacks. */

#include <dirent.h>

/* As scandir(3), of an open folder. With musl it needs /proc. */
int portable_scandir(int fd, struct dirent ***ret, int (*filter)(const struct dirent *entry),
                     int (*compare)(const struct dirent **a, const struct dirent **b));
/* Renames, unless @to is there already. 0; a negative errno. */
int portable_rename_new(const char *from, const char *to);
/*
 * From now on, each piece of a MiB or more has pages of its own, which go back when it is freed. Otherwise glibc raises
 * that size up to 32 MiB, and what smaller lists leave behind as they grow is lost to larger ones.
 */
void portable_map_large(void);
/* Returns memory to the system after bursts, such as builds. Musl has no such call. */
void portable_trim(void);
