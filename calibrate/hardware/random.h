/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Orders drawn from a seed: the same seed gives the same night, on every machine. */

#include <stddef.h>
#include <stdint.h>

struct random {
        uint64_t state;
};

/* @stream sets one use of a seed apart from another, e.g. the pass. */
void random_start(struct random *random, uint64_t seed, uint64_t stream);
uint64_t random_below(struct random *random, uint64_t n); /* 0..n-1, each as likely; @n at least 1 */
void random_shuffle(struct random *random, size_t *list, size_t n);
