/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session manager (systemd-logind, elogind): the user of the active session, whether it is locked or a greeter,
 * and suspend. A hint that is not set means nothing, since many lockers do not set it. Of the service,
 * this file and location.c use sd-bus.
 */

#include "source/source.h"
#include "util/log.h"

/*
 * A source without levels: it passes its events on to @focus (a source of focus.h), which must live longer.
 * -ENODEV: no session manager, or built without.
 */
int session_open(struct source *focus, const struct log *log, struct source **ret);
