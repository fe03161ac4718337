/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "prior.h"
#include "util/util.h"

int64_t prior_slice(const struct prior *prior, int64_t low, int64_t high)
{
        wide mass = 0, sum = 0;

        for (int64_t i = MAX(low, 0) / PRIOR_BIN; i < PRIOR_BINS && i * PRIOR_BIN <= high; i++) {
                int64_t from = MAX(low, i * PRIOR_BIN), to = MIN(high, (i + 1) * PRIOR_BIN);

                if (prior->n[i] == 0)
                        continue;
                if (to - from == PRIOR_BIN) {
                        mass += (wide)prior->n[i] * PRIOR_BIN;
                        sum += (wide)prior->s1[i] * PRIOR_BIN;
                } else {
                        mass += (wide)prior->n[i] * (to - from);
                        sum += (wide)prior->n[i] * (to - from) * ((from + to) / 2);
                }
        }
        return mass > 0 ? (int64_t)(sum / mass) : -1;
}
