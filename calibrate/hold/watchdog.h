/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Who looks after the calibration: the process that was started stays behind as a small parent, and a child
 * of it, the worker, does everything. However the worker ends, by itself or by any signal, the parent puts
 * everything back. If the parent is killed, the worker stops and does it. The two are in different process
 * groups, and where the machine lets us in different control groups, so that no single kill takes both.
 */

#include "util/log.h"

struct watchdog {
        int root_fd;
        const char *journal;
        const struct log *log;
};

/*
 * Call it with settings_lock() held and without threads. 0: this is the worker now, go on. 1: this is the
 * watchdog, the worker has ended and everything is back; exit with *@status (128 + n after a signal). -errno:
 * no child could be made, said to the log.
 */
int watchdog_start(const struct watchdog *watchdog, int *status);
