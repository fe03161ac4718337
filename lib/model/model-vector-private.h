/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of model-vector only. */

#include "model.h"

#define S_PER_NS 1e-9

/* A usage to price, the prices, and the resulting vector. Coefficients are sorted by term, then policy, then point. */
struct pricing {
        struct model_prices *prices;
        const struct profile *profile;
        const struct usage *usage;
        struct model_vector *vector;
        uint32_t used; /* 1 << amount: it is not 0 */
};

/* Coefficients of one term and, where it has policies, of one policy: [first, end), ascending by point. */
struct range {
        size_t first, end;
        size_t at; /* where the last point was found: most come in ascending order */
};

/*
 * Notes that something was used and has no coefficient. @name: the missing coefficient, or the component if that has
 * none at all. 0; -ENOMEM.
 */
int vector_unpriced(struct model_vector *vector, enum component component, const char *name);
int vector_not_counted(struct model_vector *vector, enum component component);
bool vector_has(const struct pricing *pricing, enum term term);
/* true: there are such coefficients. */
bool vector_range(const struct pricing *pricing, enum term term, uint32_t policy, struct range *ret);
/* The coefficients around a point, and the upper one's part by linear interpolation; a point that is there is both. */
struct between {
        size_t low, high;
        double part;
};

/* False: the point is outside the range. Updates range->at. */
bool vector_between(const struct pricing *pricing, struct range *range, uint32_t point, struct between *ret);
/*
 * Between two measured points the weight is split linearly. Outside them the nearest takes all of it, and the spread
 * is how far the power may go on: for a brightness along the line of the two levels at that end; for S or idling at a
 * frequency where only A is measured at most in proportion to it.
 */
void vector_split_between(const struct pricing *pricing, struct range *range, uint32_t point, double amount);

static inline void vector_split(const struct pricing *pricing, struct range *range, uint32_t point, double amount)
{
        const struct coefficient *c = pricing->profile->coefficients;
        size_t at = range->at;

        if (at < range->end && c[at].point < point)
                at++;
        if (at == range->end || c[at].point != point) {
                vector_split_between(pricing, range, point, amount);
                return;
        }
        range->at = at;
        pricing->vector->weight[at] += amount;
}

/* model-vector-cpu.c */
int vector_add_cpu(const struct pricing *pricing);
