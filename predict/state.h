/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The device as it is now: what `joulecast status` and `joulecast metrics` begin with. */

#include "ask.h"

struct state {
        struct ask ask;
        double percent;                  /* of charge; NaN: unknown, as the next two */
        int plugged;                     /* -1: unknown */
        double power_w, percent_per_hour; /* that the battery gives, by its own sensor */
        bool live;                       /* read just now, not as last recorded */
        struct joulecast_budget *budget; /* of mixed use; NULL: there is none */
};

/* state_clear() it. An exit code, after its sentence. */
int state_read(const struct options *options, struct state *ret);
void state_clear(struct state *state);
/* Of mixed use, as it is now. 0, also without one: then @ret is left as it is. A negative errno. */
int state_budget(const struct ask *ask, struct joulecast_budget **ret);
