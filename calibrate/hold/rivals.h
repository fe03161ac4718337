/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Services that set clocks and power saving by themselves, and would do so in the middle of a night. */

#include "util/log.h"

/* 0: none runs on the machine at @root_fd; -EBUSY: one does, and a sentence says which and how to stop it. */
int rivals_refuse(int root_fd, const struct log *log);
