/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A profile with what was learnt over what was measured. */

#include "posterior.h"

/* How far the full charge that the battery shows is above the true one: a part, and its standard error. */
struct full_charge {
        double error, standard_error; /* NaN: nothing tells */
};

/* The percentage and the sensor of power told different energies of the same use. */
void overlay_full_charge(const struct profile *profile, const struct everyday *list, size_t n, struct full_charge *ret);

int overlay_make(const struct profile *before, const struct design *design, const struct posterior *posterior,
                 const struct full_charge *full, struct profile **ret);
