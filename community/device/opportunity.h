/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Decides whether something may be sent now. */

#include "member.h"

enum not_now {
        NOT_NOW_BATTERY = 1 << 0, /* the device runs on battery, or does not report its power supply */
        NOT_NOW_METERED = 1 << 1, /* or the route uses a modem; this and the next are for a server only */
        NOT_NOW_NETWORK = 1 << 2, /* there is none */
        NOT_NOW_DAY = 1 << 3,     /* less than a day since the last upload */
};

/*
 * @root_fd: root folder of the machine; -1: a virtual device, which has no power supply of its own. Returns 0
 * if it may be sent now, or else NOT_NOW_* flags.
 */
unsigned opportunity_look(const struct member *member, int root_fd, int64_t now_ns);
/*
 * Removes the next reason from @reasons and returns it as the end of "not now: ..."; NULL: there are no more.
 */
const char *opportunity_reason(unsigned *reasons);
