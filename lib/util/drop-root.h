/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * For programs that a calibration of root starts: root becomes nobody, in @groups alone, with no capability. Nobody who
 * calls this can gain any privilege. 0 or a negative errno.
 */
int drop_root(const gid_t *groups, size_t n);

/* The same, but root becomes that user, without other groups. */
int drop_root_to(uid_t uid, gid_t gid);
