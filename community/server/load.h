/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads uploads into the database. Samples that are stored already change nothing. */

#include <stdbool.h>

#include "database.h"

struct load_counts {
        /* numbers of files and samples; bad: of lines; forgotten: of clients that asked for it */
        uint64_t files, added, known, bad, forgotten;
        uint64_t unread;                   /* files that could not be read completely */
};

/**
 * load_paths() - load files, and all files of folders, in one transaction
 * @shared: others can write to the folders: links and subfolders are not followed, and at most 4 MiB of each
 * file are read
 * @ret: counts; also set after an error
 *
 * Each bad line and each unreadable file is reported in the log, and everything else is still loaded.
 *
 * Return: 0; a negative errno: nothing was loaded.
 */
int load_paths(struct database *database, char *const paths[], bool shared, struct load_counts *ret);
