/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A control group of its own for this process, so that killing the group it was started in (the end of a
 * login, a service or a container) does not reach it: a systemd scope, else a version 2 group.
 */

#include "util/log.h"

struct refuge;

struct refuge *refuge_enter(const struct log *log); /* NULL: not possible, logged */
void refuge_leave(struct refuge *refuge); /* back to the group before, where the new one is ours to remove */
