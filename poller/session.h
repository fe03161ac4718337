/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the session manager (systemd-logind, elogind) says: whose session has
 * the seat, whether it is locked, idle or shown a greeter, and that the machine
 * goes to sleep. A hint that is set is believed; one that is not set says
 * nothing, since many lockers do not set it. sd-bus and sd-login stop here.
 */

#include "source/source.h"
#include "util/log.h"

/*
 * A source without levels: what it hears it tells @focus (a source of focus.h), which must live longer.
 * -ENODEV: no session manager, or built without.
 */
int session_open(struct source *focus, const struct log *log, struct source **ret);
