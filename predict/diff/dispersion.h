/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * By how much more runs of a program differ than chance explains, from three runs up. Three runs of one task say little of its
 * own spread, so that of all tasks of the program is added as a prior (Smyth 2004): it is found by maximum likelihood.
 */

#include <stdint.h>

#include "estimate.h"

struct labels;
struct side;

struct dispersion {
        double base;       /* variance by mean of small tasks; at least 1 */
        double per_sample; /* and what each sample of a run's mean adds: runs that differ as a whole */
        double df;         /* degrees of freedom that this is worth; 0: nothing; INFINITY: all tasks spread alike */
};

/* 0; -ENOMEM. */
int dispersion_make(const struct side *side, const struct labels *labels, struct dispersion *ret);
/* Of a node, -1 for one that is not there: from its own runs and those of all tasks; phi is at least 1. */
struct spread dispersion_of(const struct dispersion *dispersion, const struct side *side, int32_t node);
/* Of a task of so many samples a run whose own runs are not known. */
struct spread dispersion_usual(const struct dispersion *dispersion, double mean);
