/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-ladder.h"

#include <math.h>

#define LAST_MS 72000.0 /* longer than the timers of any radio together */
#define LAST_RATE 1024.0

static void make_steps(double first, double last, double per_octave, int64_t *ret, size_t *n, size_t max)
{
        for (double at = first; at < last * 1.01 && *n < max; at *= exp2(1 / per_octave)) {
                int64_t step = llround(at);

                if (*n == 0 || step > ret[*n - 1])
                        ret[(*n)++] = step;
        }
}

void radio_shape_make(struct radio_shape *shape, double first_ms, double rungs_per_octave, double rates_per_octave,
                      bool sizes, int64_t share_ms)
{
        *shape = (struct radio_shape){ .n_rungs = 1, .sizes = sizes, .share_ms = share_ms };
        make_steps(first_ms, LAST_MS, rungs_per_octave, shape->rung_ms, &shape->n_rungs, RADIO_RUNGS_MAX);
        make_steps(1, LAST_RATE, rates_per_octave, shape->rate, &shape->n_rates, RADIO_RATES_MAX);
        make_steps(250, 4000, 1, shape->age_ms, &shape->n_ages, RADIO_AGES_MAX);
}

void radio_shape_stored(struct radio_shape *shape)
{
        radio_shape_make(shape, 100, 2, 2, true, 1400);
}
