/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One calibration at a time: a lock beside the journal. The watchdog and the worker hold it together; it ends
 * with the last of them.
 */

#include <sys/types.h>

/*
 * Takes the lock, or counts one more holder in this process. 0; -EBUSY: another process has it, with its pid
 * in @pid (0: unknown; may be NULL); -errno. @journal: path of restore.ini.
 */
int lock_take(const char *journal, pid_t *pid);
void lock_give(void);
