/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The charge that a gauge shows as a function of the true one. It is constant over a device's life, and
 * neither straight nor smooth.
 */

#include <stdbool.h>

#include "model/profile.h"
#include "rng.h"

/* The shown charge at equal steps of the true one. */
#define GAUGE_CURVE_POINTS 1025

struct gauge_curve {
        double shown[GAUGE_CURVE_POINTS];
        bool linear;
};

/*
 * @hidden: draws the same number of values whatever the file says, so that a change of one key affects only one effect.
 */
void gauge_curve_init(struct gauge_curve *curve, const struct profile_virtual *device, struct rng *hidden);
double gauge_curve_at(const struct gauge_curve *curve, double charge); /* both 0..1 */
