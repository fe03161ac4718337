/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A user may run programs as any of their subordinate ids, ranges in /etc/subuid, mostly of 65,536 ids. Limits per user
 * count these as the user's own. In a program that has not called subordinate_read() each id is a user.
 */

#include <sys/types.h>

#define SUBORDINATE_PATH "/etc/subuid"

/*
 * To be called now and then: it reads the file only if it was replaced since the last time. Without a file, or without
 * memory, the previous ranges stay. See subuid(5).
 */
void subordinate_read(const char *path);
/*
 * Parses lines "user:first:count", with a user by name or number; others are left out. Replaces all ranges. 0;
 * -ENOMEM.
 */
int subordinate_parse(const char *text);

/* The user who owns this id, as a subordinate one or as their own. A range of root counts as one user, its first id. */
uid_t subordinate_owner(uid_t uid);
