/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The shown percents of a gauge that hold unequal charges, other ones in each discharge. docs/physics.md has
 * the law.
 */

#include "model/profile.h"
#include "rng.h"

#define LEVEL_PERCENTS 100

struct level_error {
        double scatter, drift, drift_keep, lag; /* parts of a percent, of the scale, and percents */
        double at[LEVEL_PERCENTS + 1];          /* the charge at which each percent is shown; ascending */
        struct rng rng;
        bool any;
        bool fresh;                             /* drawn at the full charge that still lasts */
};

/* @run: only its copy is drawn from. */
void level_error_init(struct level_error *error, const struct profile_virtual *device, const struct rng *run);
/* To be told each @charge that is shown: a full battery begins a discharge. */
void level_error_discharge(struct level_error *error, double charge);
double level_error_shown(const struct level_error *error, double charge); /* both 0..1 */
