/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Confidence intervals and p-values of sums of samples. */

#include <stddef.h>

struct estimate {
        double value, low, high; /* 95 % */
};

/* How much more the number of samples varies between runs than in a Poisson distribution, where phi is 1. */
struct spread {
        double phi; /* variance / mean; INFINITY: unknown, so that intervals reach from 0 to infinity */
        double df;  /* degrees of freedom of phi; INFINITY: phi is known, or taken as known */
};

/* A sum that was sampled. */
struct sampled {
        double value;
        double unit; /* mean of the samples, weighted by their values: sum of the squares / sum */
        double largest; /* value of the largest sample; at least @unit */
        struct spread spread;
};

#define ESTIMATE_Z 1.959963984540054
/*
 * A difference is "for sure" if its p is below this: that of the total, or of a task, adjusted for all tasks. An answer
 * speaks of both, so that it is wrong once in 20 at most (Bonferroni).
 */
#define ESTIMATE_SURE (0.05 / 2)

/*
 * Fay and Feuer's interval of a sum of samples with different values (Statistics in Medicine 16, 1997): gamma
 * distributions with the sum's mean and variance, for the upper bound with another sample as large as the
 * largest. It is Garwood's interval if all values are equal. Each sample counts phi times as much where runs
 * differ by phi. @z: quantile of the normal distribution. Where phi is estimated, Student's quantile of the
 * same level replaces it, which is so wide that the other sample needs to be only as large as @unit.
 */
struct estimate estimate_of(struct sampled sampled, double z);
/* The interval of a - factor * b by MOVER, from the intervals of both, with Welch's degrees of freedom. */
struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z);
/*
 * The p-value of a - factor * b: the level at which its interval just excludes 0; 1: they are equal. If they
 * were equal, samples as large as those of one side could be missing on the other by chance, so the largest
 * sample of both is used for each.
 */
double estimate_p(struct sampled a, struct sampled b, double factor);
/* Holm's adjustment, in place: the largest stays at most 1. 0; -ENOMEM. */
int estimate_holm(double *p, size_t n);
