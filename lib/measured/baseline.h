/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simple models that anybody could fit to a trace, to compare a profile with: one constant power, and least squares of
 * the mean power on CPU use times frequency of each policy, brightness, the GPU's time and bytes.
 */

#include "measured.h"

struct baseline {
        double constant_j;      /* NaN: not known */
        double least_squares_j;
};

/*
 * @list: gets one for each span of @trace. @on: trace to fit on; NULL: all other spans of @trace. The energies of all
 * spans must be known. 0; -ENOMEM; -EOVERFLOW.
 */
int baseline_make(const struct measured_trace *trace, const struct measured_trace *on, struct baseline *list);
