/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Charge that a limit saved: the app's background use at the hourly rate before it, less its use since then. */

#include "ask.h"

struct limit_saved {
        bool known;                         /* false: too little is recorded */
        struct joulecast_value percent;     /* saved, in percent of a full battery */
        double before_per_hour, since_per_hour; /* percent per hour in the background */
        double hours;                       /* time in the background since then */
};

/* @since_ns: when the limit was set, realtime. 0; a negative errno. */
int limit_saved_read(const struct ask *ask, const char *app, int64_t since_ns, struct limit_saved *ret);
