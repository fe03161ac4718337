/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* By how much more runs of a program differ than chance explains, from three runs up. */

#include "comparison.h"

struct dispersion {
        double pooled; /* mean of the tasks that have enough samples */
};

struct dispersion dispersion_make(const struct side *side, const struct labels *labels);
/* Variance by mean of the samples of a node: of its own runs or the pooled one, whichever is more; at least 1. */
double dispersion_of(const struct dispersion *dispersion, const struct side *side, int32_t node);
/* comparison->comparable and the ranks of tasks in a plain profile. 0; -ENOMEM. */
int comparable_measure(struct comparison *comparison);
