/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline.h"

/* Fills apps, slots and hours. -EAGAIN: the stored periods are longer than the slots. */
int timeline_read_energy(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns,
                         int64_t to_ns, struct timeline *timeline);
/* Fills levels, charges and sleeps. @level_percent: level at the end; NaN: unknown. */
int timeline_read_battery(struct store *store, double level_percent, struct timeline *timeline);
