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
        double unit; /* what one sample counts, on average: the sum of the squares by the sum */
        double largest; /* what the largest counts; at least @unit */
        struct spread spread;
};

#define ESTIMATE_Z 1.959963984540054

/*
 * Fay and Feuer's interval of a sum of samples that count differently (Statistics in Medicine 16, 1997): gamma distributions of
 * the sum's mean and variance, for the upper bound with another sample as large as the largest. It is Garwood's if all count
 * the same. Each counts phi times as much where runs differ by that. @z: quantile of the normal distribution, for which that of
 * Student's with the same level is taken where phi is estimated. That is wide enough with another sample of @unit.
 */
struct estimate estimate_of(struct sampled sampled, double z);
/* a - factor * b, by MOVER: from the intervals of both, with Welch's degrees of freedom. */
struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z);
/*
 * The level at which that interval of a - factor * b just has no 0 in it; 1: they are equal. If they are, samples as large as one
 * side's can be missing on the other by chance: the largest is that of both.
 */
double estimate_p(struct sampled a, struct sampled b, double factor);
/* Holm's adjustment, in place: the largest stays at most 1. 0; -ENOMEM. */
int estimate_holm(double *p, size_t n);
