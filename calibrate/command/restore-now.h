/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What an interrupted calibration left: put back before the next, or by --restore. */

#include <stdbool.h>

#include "util/log.h"

/*
 * 0, also where nothing was left; says what it did.
 * A negative errno: something is not back, and none may start.
 */
int restore_first(const char *journal, const struct log *log);

/*
 * The same as a command of its own: each setting and the sums to stdout, or one JSON object. @end_running: a
 * calibration that runs now is told to end first, which puts everything back.
 */
int restore_by_hand(const char *journal, bool json, bool end_running, const struct log *log);
