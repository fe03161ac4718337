/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rng.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state)
{
        uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
        uint64_t mixed = splitmix64(&stream) ^ seed;

        *rng = (struct rng){ 0 };
        for (unsigned i = 0; i < 4; i++)
                rng->state[i] = splitmix64(&mixed);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
        return (x << bits) | (x >> (64 - bits));
}

uint64_t rng_next(struct rng *rng)
{
        uint64_t *s = rng->state;
        uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
        uint64_t t = s[1] << 17;

        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = rotate_left(s[3], 45);
        return result;
}

double rng_uniform(struct rng *rng)
{
        return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method. */
double rng_normal(struct rng *rng)
{
        double x, y, r2, scale;

        if (rng->has_spare) {
                rng->has_spare = false;
                return rng->spare;
        }
        do {
                x = 2 * rng_uniform(rng) - 1;
                y = 2 * rng_uniform(rng) - 1;
                r2 = x * x + y * y;
        } while (r2 >= 1 || r2 == 0);
        scale = sqrt(-2 * log(r2) / r2);
        rng->spare = y * scale;
        rng->has_spare = true;
        return x * scale;
}

double rng_exponential(struct rng *rng)
{
        return -log1p(-rng_uniform(rng));
}
