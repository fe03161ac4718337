/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* May something be sent now? */

#include "member.h"

enum not_now {
        NOT_NOW_BATTERY = 1 << 0, /* the device runs on it, or does not say */
        NOT_NOW_METERED = 1 << 1, /* or over a modem; of a server only, as the next */
        NOT_NOW_NETWORK = 1 << 2, /* there is none */
        NOT_NOW_DAY = 1 << 3,     /* since what was sent last */
};

/* @root_fd: of the machine; -1: a virtual device, which has no power of its own. 0: now; else NOT_NOW_*. */
unsigned opportunity_look(const struct member *member, int root_fd, int64_t now_ns);
/* The next reason of @reasons, as the end of "not now: ...", which is taken out of them; NULL: no more. */
const char *opportunity_reason(unsigned *reasons);
