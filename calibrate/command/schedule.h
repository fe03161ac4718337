/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Starts a calibration later: a systemd service with the given options, and a timer that starts it once and
 * wakes the machine for it.
 */

#include <stddef.h>
#include <time.h>

#include "util/log.h"

#define SCHEDULE_FOLDER "/etc/systemd/system"

struct schedule {
        const char *folder;        /* SCHEDULE_FOLDER except in tests */
        const char *program;       /* absolute */
        const char *working;       /* for relative names in the options */
        char *const *arguments;    /* without the program's name, ended by NULL; --yes is added */
        time_t when;
};

/* The next "HH:MM" after @now, local time. */
time_t schedule_next(const char *clock, time_t now);

/*
 * The text of the service; free() it. NULL: no memory, or (errno EINVAL) an argument has a character that a
 * unit file cannot contain.
 */
char *schedule_service(const struct schedule *schedule);
char *schedule_timer(const struct schedule *schedule);

/* 0; -ENOSYS: no systemd runs, or built without it; -errno. Errors are logged. */
int schedule_arm(const struct schedule *schedule, const struct log *log);
/* 0: removed; -ENOENT: nothing was scheduled (not logged); -errno. */
int schedule_disarm(const char *folder, const struct log *log);
