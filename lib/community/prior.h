/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How often which discharge rate was seen: what is known of a coarse reading before it is made. Rates are in 1e-9 of a
 * full charge per second, here as everywhere in community/.
 */

#include <stdint.h>

__extension__ typedef __int128 wide; /* products of two 64-bit numbers */

#define RATE_MAX 400000 /* 0.04 %/s: empty within 42 minutes */
#define PRIOR_BIN 2000
#define PRIOR_BINS (RATE_MAX / PRIOR_BIN + 1)

struct prior {
        int64_t n[PRIOR_BINS], s1[PRIOR_BINS]; /* rates in each bin: how many, and their sum */
};

/*
 * The mean of the rates from @low to @high. A bin that is only partly inside counts by that part. -1: none was seen
 * there.
 */
int64_t prior_slice(const struct prior *prior, int64_t low, int64_t high);
