/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The device as it is now, for `joulecast status` and `joulecast metrics`. */

#include "ask.h"

struct state {
        struct ask ask;
        double percent;                  /* charge; NaN: unknown */
        double counted_percent;          /* level from which the charge moved faster than any load can; NaN: none */
        int plugged;                     /* -1: unknown */
        double power_w, percent_per_hour; /* power that the battery gives, by its own sensor; NaN: unknown */
        bool live;                       /* read just now; else as last recorded */
        struct joulecast_budget *budget; /* budget for mixed use; NULL: there is none */
};

/* state_clear() it. An exit code, after its sentence. */
int state_read(const struct options *options, struct state *ret);
void state_clear(struct state *state);
/* Makes the budget for mixed use, as it is now. 0, also if there is none: then @ret stays. A negative errno. */
int state_budget(const struct ask *ask, struct joulecast_budget **ret);
