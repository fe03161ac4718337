/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What chance does to sums of samples. */

#include <stddef.h>

struct estimate {
        double value, low, high; /* 95 % */
};

/* How much more the number of samples varies between runs than Poisson's, which is 1. */
struct spread {
        double phi; /* variance by mean */
        double df;  /* degrees of freedom of that; INFINITY: it is known, or taken for known */
};

/* A sum that was sampled. */
struct sampled {
        double value;
        double unit; /* what one sample counts */
        struct spread spread;
};

#define ESTIMATE_Z 1.959963984540054

/*
 * Garwood's interval on the effective number of samples, value / unit / phi. @z: quantile of the normal distribution, for which
 * that of Student's with the same level is taken where phi is estimated.
 */
struct estimate estimate_of(struct sampled sampled, double z);
/* a - factor * b, by MOVER: from the intervals of both, with Welch's degrees of freedom. */
struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z);
/* The level at which that interval of a - factor * b just has no 0 in it; 1: they are equal. */
double estimate_p(struct sampled a, struct sampled b, double factor);
/* Holm's adjustment, in place: the largest stays at most 1. 0; -ENOMEM. */
int estimate_holm(double *p, size_t n);
