/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who has a camera open: /proc/PID/fd, which only root and the user of a process may read. */

#include "held-tally.h"

/* Whether it is known at all: a camera is there, and others' descriptors can be read. */
bool camera_is_there(int root_fd);
/* Of @sample's processes and those of @before that it leaves out. 0; -ENOMEM. */
int camera_find(int root_fd, const struct sample *sample, const struct holders *before, struct holders *ret);
