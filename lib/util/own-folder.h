/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Folders of default paths (paths.h) are made when needed. A path that the user named may be mistyped: its folder
 * must exist.
 */

/* Makes the folder of @path, and those above it, if @path is a default one. 0 or a negative errno. */
int own_folder_make(const char *path, unsigned mode);

/* Why a file could not be made, in words: -ENOENT is about its folder. */
const char *own_folder_why(int err);
