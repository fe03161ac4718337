/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Services that change clocks and power saving on their own, and would do so during a run. */

#include "util/log.h"

/* 0: none must stop on the machine at @root_fd; -EBUSY: one must; the log says which and how to stop it. */
int rivals_refuse(int root_fd, const struct log *log);

/*
 * One beside which a calibration may run while it changes nothing. NULL: none runs; else its name, and the command
 * that stops it.
 */
const char *rivals_watched(int root_fd, const char **ret_command);
