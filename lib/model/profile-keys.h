/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The keys of a profile, once for reading and writing: those of coefficients are in component.c, the plain
 * numbers are here.
 */

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* A number of the profile that is no coefficient. NaN or 0 in a profile without it, as profile.h says. */
struct number_key {
        const char *section;
        const char *key;
        size_t offset; /* offset of the double in struct profile */
        double min;
        double max;
};

extern const struct number_key number_keys[];
extern const size_t n_number_keys;

/* A number of [cpu P] that only a virtual device has; 0 in a profile without it. */
struct work_key {
        const char *key;
        size_t offset; /* offset of the double in struct profile_policy */
        double min;
        double max;
};

extern const struct work_key work_keys[];
extern const size_t n_work_keys;

/* The least value that a coefficient of a term may have. */
double profile_least(enum term term);
int profile_coefficient_compare(const void *a, const void *b);
/* Drops the apps and their x- keys, as other apps will get their numbers; not their coefficients. */
void profile_forget_apps(struct profile *profile);
/* Takes over @coefficients (sorted, without duplicates) and makes an empty covariance for them. */
int profile_set_coefficients(struct profile *profile, struct coefficient *coefficients, size_t n);
