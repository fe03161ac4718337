/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Folders are made where files are ours by default (paths.h, and the sockets). A path that somebody named may
 * be mistyped: its folder has to be there.
 */

/* The folder that holds @path, and what is above it, if it is one of ours; else nothing. 0 or a negative errno. */
int own_folder_make(const char *path, unsigned mode);

/* Why a file could not be made, in words: that something is not there is then about its folder. */
const char *own_folder_why(int err);
