/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session manager (systemd-logind, elogind): the user of the active session, whether it is locked or a
 * greeter, and suspend. A hint that is not set has no meaning, since many lockers do not set it. In the
 * service, only this file and location.c use sd-bus.
 */

#include "source/source.h"
#include "util/log.h"

/*
 * A source without levels: it passes its events to @focus (a source of focus.h), which must outlive it.
 * Returns -ENODEV: no session manager, or built without sd-bus.
 */
int session_open(struct source *focus, const struct log *log, struct source **ret);
