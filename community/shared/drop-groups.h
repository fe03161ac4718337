/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Bounds what clients that came together can move: those of one network, or that joined on one day. Where they agree
 * with each other and not with the others, they are left out, unless they are half of all.
 */

#include "drop.h"

#define DROP_GROUPINGS 2

/* Groups of clients, by their number in uses; 0: unknown. NULL: no grouping. */
struct drop_groups {
        uint32_t *of[DROP_GROUPINGS];
};

/*
 * Marks in @out the uses of groups that are unlike the others. @scale: standard deviation of an effect of weight 1.
 * Returns 1 if there are any; 0; -ENOMEM.
 */
int drop_leave_groups(const struct drop_use *uses, size_t n, const struct drop_groups *groups, double scale, bool *out);
