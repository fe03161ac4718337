/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The folder that a recording is kept in, which is there whole or not at all. */

#include <stddef.h>

struct cJSON;
struct recording;

struct folder {
        char *path;    /* as the user named it */
        char *staging; /* beside it, until all is written; NULL: there is none */
        int fd;        /* the staging folder, locked; it counts where @staging does */
        char inside[32]; /* a path to @fd, which stays right whatever others do with the folder around it */
};

/* Also removes what recordings of this name left that were killed. 0; -EEXIST after its sentence: there is one of
 * that name; another negative errno after its sentence. */
int folder_open(const char *path, struct folder *ret);
/* runs/N.folded and runs/N.components.tsv. */
int folder_write_run(const struct folder *folder, size_t number, const struct recording *recording);
int folder_write(const struct folder *folder, const char *name, const char *text, size_t length);
/* Gives it its name. */
int folder_finish(struct folder *folder);
/* Removes what was not finished. */
void folder_clear(struct folder *folder);
