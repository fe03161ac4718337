/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Makes a profile of the learnt values on top of the measured ones. */

#include "posterior.h"

/* How far the full charge that the battery shows is above the true one: a part, and its standard error. */
struct full_charge {
        double error, standard_error; /* relative; NaN: unknown */
};

/* Estimates the error of the full charge, from the energies by percentage and by power sensor of the same use. */
void overlay_full_charge(const struct profile *profile, const struct everyday *list, size_t n, struct full_charge *ret);

int overlay_make(const struct profile *before, const struct design *design, const struct posterior *posterior,
                 const struct full_charge *full, struct profile **ret);
