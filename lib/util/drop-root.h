/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * For programs that a calibration by root starts: root becomes nobody, in @groups alone, with no capability. Calling
 * this never gains a privilege. 0 or a negative errno.
 */
int drop_root(const gid_t *groups, size_t n);

/* The same, but root becomes that user, without other groups. */
int drop_root_to(uid_t uid, gid_t gid);

/*
 * For reading a file that another user may have written: root becomes the owner of its folder, who can exchange it; if
 * root owns the folder, the owner of the file. 0, also if that is root; a negative errno: there is no file.
 */
int drop_root_to_owner(const char *path);
