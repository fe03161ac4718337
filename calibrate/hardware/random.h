/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random orders: the same seed gives the same order on every machine. */

#include <stddef.h>
#include <stdint.h>

struct random {
        uint64_t state;
};

/* @stream separates uses of one seed, e.g. the passes. */
void random_start(struct random *random, uint64_t seed, uint64_t stream);
uint64_t random_below(struct random *random, uint64_t n); /* 0..n-1, uniform; @n at least 1 */
void random_shuffle(struct random *random, size_t *list, size_t n);
