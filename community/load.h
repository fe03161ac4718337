/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Uploads into the database. What is known already changes nothing. */

#include <stdbool.h>

#include "database.h"

struct load_counts {
        uint64_t files, added, known, bad, forgotten; /* samples; bad: lines; clients that asked for it */
        uint64_t unread;                   /* files that could not be read, or not to their end */
};

/**
 * load_paths() - load files, and all files of folders, in one transaction
 * @shared: others can write into the folders: links and folders in them are not followed, and 4 MiB of each file are read
 * @ret: what there was; also after an error
 *
 * Each line that is wrong, and each file, has a sentence in the log, and loses nothing else.
 *
 * Return: 0; a negative errno: nothing was loaded.
 */
int load_paths(struct database *database, char *const paths[], bool shared, struct load_counts *ret);
