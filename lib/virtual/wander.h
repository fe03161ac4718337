/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rng.h"

/* A stationary Ornstein-Uhlenbeck process of mean 0 and standard deviation 1, in exact steps of 1 s. */
struct wander {
        struct rng rng; /* separate, so that switching an effect off does not change others */
        double value;
        double keep;  /* exp(-1 s / tau) */
        double renew; /* sqrt(1 - keep^2) */
};

void wander_init(struct wander *wander, double tau_s, struct rng *rng);
void wander_next(struct wander *wander);
