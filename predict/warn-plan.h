/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Does the charge still last until the end of the plan that joulecast-focus follows? */

#include "ask.h"

struct warn_plan {
        int64_t until_ns;      /* realtime */
        double likely_minutes; /* minutes that the charge likely lasts with the plan's changes */
};

/* True: it likely does not. False: it does, or no plan is followed, or it is not known. */
bool warn_plan_read(const struct ask *ask, struct warn_plan *ret);
