/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The watchdog restores the machine however the calibration ends. The started process stays as a small
 * parent; its child, the worker, does everything else. When the worker ends, also by a signal, the parent
 * restores everything; if the parent is killed, the worker stops and does so. They are in different process
 * groups and, where possible, different control groups, so that no single kill ends both.
 */

#include "util/log.h"

struct watchdog {
        int root_fd;
        const char *journal;
        const struct log *log;
};

/*
 * Call it with settings_lock() held and without threads. 0: this is the worker, go on. 1: this is the
 * watchdog, the worker has ended and everything is restored; exit with *@status (128 + n after a signal).
 * -errno: no child could be started, logged.
 */
int watchdog_start(const struct watchdog *watchdog, int *status);
