/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "util/log.h"

/* Correlation time of background activity that no counter shows: no calibration is long enough to measure it. */
#define DAEMONS_TAU_S 300.0

/*
 * The same, or the value of $JOULECAST_DAEMONS_TAU_S instead, as for the virtual phone, where time runs faster.
 * 0; -EINVAL after a sentence to @log.
 */
int daemons_tau(const struct log *log, double *ret);
