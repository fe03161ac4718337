/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Services that change clocks and power saving on their own, and would do so during a run. */

#include "util/log.h"

/* 0: none runs on the machine at @root_fd; -EBUSY: one does; the log says which and how to stop it. */
int rivals_refuse(int root_fd, const struct log *log);
