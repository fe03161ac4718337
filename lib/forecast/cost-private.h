/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sums behind a cost, for the files that make it. */

#include "cost.h"

/* Errors of one app. An array of these has the order of the cost's list. */
struct cost_part {
        struct model_vector vector;
        double misfit_j, within_j;
};

/* The sum over apps and the base. */
struct cost_sum {
        struct model_prices prices;
        double warmth; /* by warmth_of() */
        struct model_vector vector;
        double misfit_j, misfit_j2;
        double within_j2;
        struct cost_part *parts;
        size_t n_parts;
};

/*
 * Narrows the intervals of @cost by the energy that the battery gave, unless model and battery contradict each other.
 * The measured and unattributed energy of @cost must be known. @step_j: a step of the battery's level. 0; -ENOMEM.
 */
int cost_given(const struct profile *profile, const struct cost_sum *sum, double step_j, struct cost *cost);
