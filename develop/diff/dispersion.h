/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How much more the runs of a program differ than chance explains, from three runs up. Three runs of one task
 * tell little about its own spread, so the spread of all tasks of the program is added as a prior (Smyth
 * 2004), which is found by maximum likelihood.
 */

#include <stdint.h>

#include "estimate.h"

#define DISPERSION_RUNS_MIN 3

struct labels;
struct side;

struct dispersion {
        double base;       /* variance / mean of small tasks; at least 1 */
        double per_sample; /* increase by each sample of a run's mean, because runs differ as a whole */
        double df;         /* degrees of freedom of the prior; 0: it does not count; INFINITY: all tasks spread alike */
};

/* 0; -ENOMEM. */
int dispersion_make(const struct side *side, const struct labels *labels, struct dispersion *ret);
/* The spread of a node (-1: one that is not there), from its own runs and those of all tasks; phi is at least 1. */
struct spread dispersion_of(const struct dispersion *dispersion, const struct side *side, int32_t node);
/* The spread of a task whose runs differ as usual. @mean: its samples a run; if few, its own runs tell nothing. */
struct spread dispersion_usual(const struct dispersion *dispersion, const struct side *side, double mean);
