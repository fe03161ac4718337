/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "random.h"

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is good, also 0. */
static uint64_t next(struct random *random)
{
        uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

void random_start(struct random *random, uint64_t seed, uint64_t stream)
{
        random->state = seed;
        random->state = next(random) ^ stream;
        random->state = next(random);
}

uint64_t random_below(struct random *random, uint64_t n)
{
        uint64_t limit = UINT64_MAX - UINT64_MAX % n, value;

        do
                value = next(random);
        while (value >= limit);
        return value % n;
}

void random_shuffle(struct random *random, size_t *list, size_t n)
{
        for (size_t i = n; i > 1; i--) {
                size_t j = (size_t)random_below(random, i), kept = list[i - 1];

                list[i - 1] = list[j];
                list[j] = kept;
        }
}
