/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* From -1 to 1: the same in each run. */
static inline double draw(void)
{
        static uint32_t state = 1;

        state = state * 1664525 + 1013904223;
        return state / 2147483648.0 - 1;
}

/* About a normal deviate: Irwin and Hall's sum of twelve. */
static inline double draw_normal(void)
{
        double sum = 0;

        for (int i = 0; i < 12; i++)
                sum += draw() / 2;
        return sum;
}
