/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where a file may be written: in a folder that no other user but root can change, on a way that no such user can lead
 * elsewhere. Root may be told to write into a user's folder, who exchanges a file or a folder there for a link.
 *
 * Each folder of the path belongs to root (who owns "/") or to us, and nobody else can write in it, or it is sticky as /tmp
 * is. Links on the way that are root's or ours are followed. A group that can write counts as others, unless its number is the
 * owner's: such a group is the user's own, as a umask of 002 supposes.
 */

#include <limits.h>
#include <stdbool.h>

struct safe_folder {
        int fd;                  /* O_PATH; -1: not open */
        bool shared;             /* sticky: others may make files in it, but not exchange ours */
        char name[NAME_MAX + 1]; /* of the file in it */
        char path[PATH_MAX];     /* of the file, without links on the way */
};

/**
 * safe_folder_open() - the folder of a file
 * @path: of the file, which need not exist; a link there is not followed
 * @mode: of folders that are made where they are missing; 0: none is made
 * @ret:  close it with safe_folder_close()
 *
 * Return: 0; -ENOLINK: another user can change it, or one above it; -EISDIR: @path ends in a slash; another errno.
 */
int safe_folder_open(const char *path, unsigned mode, struct safe_folder *ret);
void safe_folder_close(struct safe_folder *folder);

/*
 * The same for a file that is opened by its name, with others beside it as SQLite has them (-wal, -shm, -journal): what is
 * there of them are files of root's or ours. In a sticky folder another user may still make one that is missing; SQLite
 * follows no link, so that can spoil or stop this database and nothing else. Its path without links; free() it.
 * -EPERM: one is another user's.
 */
int safe_folder_database(const char *path, char **ret);
