/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What chance does to sums of samples. */

#include <stddef.h>

struct estimate {
        double value, low, high; /* 95 % */
};

/* A sum that was sampled. */
struct sampled {
        double value;
        double unit; /* what one sample counts */
        double phi;  /* variance of the number of samples by their mean; 1: Poisson's */
};

/* Garwood's interval on the effective number of samples, value / unit / phi. @z: quantile of the normal distribution. */
struct estimate estimate_of(struct sampled sampled, double z);
/* a - factor * b, by MOVER: from the intervals of both. */
struct estimate estimate_difference(struct sampled a, struct sampled b, double factor, double z);
/* The level at which that interval of a - b just has no 0 in it; 1: a = b. */
double estimate_p(struct sampled a, struct sampled b);
/* Holm's adjustment, in place: the largest stays at most 1. 0; -ENOMEM. */
int estimate_holm(double *p, size_t n);

#define ESTIMATE_Z 1.959963984540054
