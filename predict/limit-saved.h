/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a limit saved: what the app took in the background before it, by the hour, less what it took since. */

#include "ask.h"

struct limit_saved {
        bool known;                         /* else too little is recorded */
        struct joulecast_value percent;     /* of a full battery */
        double before_per_hour, since_per_hour; /* percent */
        double hours;                       /* in the background since then */
};

/* @since_ns: when the limit was set, realtime. 0; a negative errno. */
int limit_saved_read(const struct ask *ask, const char *app, int64_t since_ns, struct limit_saved *ret);
