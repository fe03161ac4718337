/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How fast is this machine's CPU? Five kernels, as no single number compares two CPUs. A target's profile has its own
 * results under the same names (x-bench-NAME of [profile]).
 */

#include <stddef.h>

enum bench_kernel {
        BENCH_INT,    /* steps of xorshift32, each on the one before */
        BENCH_FLOAT,  /* divisions and square roots, likewise */
        BENCH_CHASE,  /* loads from 64 MB in a random order, likewise */
        BENCH_STREAM, /* bytes copied and scaled in order, from 64 MB */
        BENCH_SORT,   /* elements sorted, whose branches cannot be foreseen */
        BENCH_KERNELS
};

struct bench_kind {
        const char *name, *unit, *help;
};
extern const struct bench_kind bench_kinds[BENCH_KERNELS];

/*
 * Millions of units a second, each the median of @repeats of @seconds. 0; -ENOMEM.
 */
int bench_run(double seconds, size_t repeats, double ret[BENCH_KERNELS]);
