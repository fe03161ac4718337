/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * xoshiro256++ 1.0 by David Blackman and Sebastiano Vigna, seeded by splitmix64
 * of the same authors, as they recommend; both are dedicated to the public
 * domain (CC0), https://prng.di.unimi.it/. The same seed gives the same device
 * and the same night on every machine.
 */

#include <stdbool.h>
#include <stdint.h>

struct rng {
        uint64_t state[4];
        double spare; /* normal numbers are made in pairs */
        bool has_spare;
};

/* @stream: purpose of the numbers; different streams of one seed are independent. */
void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng);     /* 0 <= x < 1, 53 bits */
double rng_normal(struct rng *rng);      /* mean 0, standard deviation 1 */
double rng_exponential(struct rng *rng); /* mean 1 */
