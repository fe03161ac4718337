/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One calibration at a time: a lock beside the journal. It belongs to a process and its children, the
 * watchdog and the worker, and ends with the last of them.
 */

#include <sys/types.h>

/*
 * Takes it, or counts one more holder in this process. 0; -EBUSY: another has it, whose pid is in @pid (0:
 * unknown; may be NULL); -errno. @journal: path of restore.ini.
 */
int lock_take(const char *journal, pid_t *pid);
void lock_give(void);
