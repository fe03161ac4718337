/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Compares the predictions of a profile for everyday use with the energy that the battery really gave. */

#include "design.h"

struct judged { /* a stretch of use without a break */
        int64_t end_ns;
        double shown_j;      /* energy that the battery gave, by its own readings */
        double predicted_j;
        double sd_j;         /* standard deviation of predicted_j - shown_j */
        double half_width_j; /* half of the 95 % interval of predicted_j - shown_j */
};

/* Judges each stretch of @design that ends after @after_ns, if its sd_j is known; the caller frees @ret with free(). */
int judge(const struct profile *profile, const struct design *design, int64_t after_ns, struct judged **ret, size_t *n);

/* Judges the @n rows from @first on, which are one stretch. */
int judge_stretch(const struct profile *profile, const struct design *design, size_t first, size_t n,
                  struct judged *ret);
bool judge_is_known(const struct judged *judged);

/* Logarithm of the predictive density of the shown energy; higher is better. */
double judge_likelihood(const struct judged *judged);
