/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a profile says of everyday use that the battery has answered since. */

#include "design.h"

struct judged { /* a stretch of use without a break */
        int64_t end_ns;
        double shown_j;      /* what the battery gave, as it showed */
        double predicted_j;
        double sd_j;         /* of the prediction and of what the battery shows */
        double half_width_j; /* 95 % */
};

/* Of each stretch of @design that ends after @after_ns; free() it. */
int judge(const struct profile *profile, const struct design *design, int64_t after_ns, struct judged **ret, size_t *n);

/* Logarithm of the density of what happened; higher is better. */
double judge_likelihood(const struct judged *list, size_t n);
