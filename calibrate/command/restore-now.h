/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Restores settings that an interrupted calibration left changed: before the next one, or by --restore. */

#include <stdbool.h>

#include "util/log.h"

/*
 * 0, also if nothing was left to restore; logs how many were restored. A negative errno: something could not be
 * restored, and no calibration may start.
 */
int restore_first(const char *journal, const struct log *log);

/*
 * --restore: prints each setting and the sums, or one JSON object. @end_running: ends a running calibration
 * first, which restores everything.
 */
int restore_by_hand(const char *journal, bool json, bool end_running, const struct log *log);
