/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A calibration at a time of the night: a service with exactly the options that were given, and a timer that
 * starts it once, waking the machine for it.
 */

#include <stddef.h>
#include <time.h>

#include "util/log.h"

#define SCHEDULE_FOLDER "/etc/systemd/system"

struct schedule {
        const char *folder;        /* SCHEDULE_FOLDER but in tests */
        const char *program;       /* absolute */
        const char *working;       /* what relative names in the options are relative to */
        char *const *arguments;    /* after the program's name, ended by NULL; --yes is added */
        time_t when;
};

/* The next "HH:MM" after @now, in local time. */
time_t schedule_next(const char *clock, time_t now);

/*
 * The text of the service; free() it. NULL: no memory, or (errno EINVAL) an argument has a character
 * that no unit file can say.
 */
char *schedule_service(const struct schedule *schedule);
char *schedule_timer(const struct schedule *schedule);

/* 0; -ENOSYS: no systemd runs here, or none was built in; -errno. All have said their sentence. */
int schedule_arm(const struct schedule *schedule, const struct log *log);
/* 0: taken back; -ENOENT: nothing was scheduled (not said); -errno. */
int schedule_disarm(const char *folder, const struct log *log);
