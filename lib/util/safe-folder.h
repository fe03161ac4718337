/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks that a file is written safely: in a folder that no other user but root can change, by a path that no such user
 * can redirect. Otherwise a user could exchange a file or folder for a link where root was told to write.
 *
 * Each folder of the path must belong to root (the owner of "/") or to us, and nobody else can write in it, or it is
 * sticky as /tmp is. Links in the path that belong to root or to us are followed. A group that can write counts as
 * others, unless its number is the owner's: such a group is the user's own, as a umask of 002 supposes.
 */

#include <limits.h>
#include <stdbool.h>

struct safe_folder {
        int fd;                  /* O_PATH; -1: not open */
        bool shared;             /* sticky: others may make files in it, but not exchange ours */
        char name[NAME_MAX + 1]; /* name of the file in it */
        char path[PATH_MAX];     /* path of the file, with links in it resolved */
};

/**
 * safe_folder_open() - open the folder of a file
 * @path: path of the file, which need not exist; if it is a link, that is not followed
 * @mode: mode of missing folders, which are made; 0: none is made
 * @ret:  close it with safe_folder_close()
 *
 * Return: 0; -ENOLINK: another user can change it, or one above it; -EISDIR: @path ends in a slash; another errno.
 */
int safe_folder_open(const char *path, unsigned mode, struct safe_folder *ret);
void safe_folder_close(struct safe_folder *folder);

/*
 * The same for a file that is opened by its name, with others beside it as SQLite has them (-wal, -shm, -journal):
 * those that exist must belong to root or to us. In a sticky folder another user may still make a missing one; SQLite
 * follows no link, so that can only spoil or stop this database. @ret: its path without links; free() it.
 * -EPERM: one belongs to another user.
 */
int safe_folder_database(const char *path, char **ret);
