/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A control group of its own for this process, out of reach of a kill of the group it was started in (the end
 * of a login, of a service, of a container): a scope of systemd, else a version 2 group.
 */

#include "util/log.h"

struct refuge;

struct refuge *refuge_enter(const struct log *log); /* NULL: there is none, said to the log */
void refuge_leave(struct refuge *refuge); /* back, where it is ours to tidy up */
