/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wander.h"

#include <math.h>

void wander_init(struct wander *wander, double tau_s, struct rng *rng)
{
        wander->keep = tau_s > 0 ? exp(-1 / tau_s) : 0;
        wander->renew = sqrt(1 - wander->keep * wander->keep);
        rng_seed(&wander->rng, rng_next(rng), 0);
        wander->value = rng_normal(&wander->rng);
}

void wander_next(struct wander *wander)
{
        wander->value = wander->keep * wander->value + wander->renew * rng_normal(&wander->rng);
}
