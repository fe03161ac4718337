/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dispersion.h"

#include <math.h>

#include "util/util.h"

#define RUNS_MIN 3
#define MEAN_MIN 5 /* samples a run */

/* NAN: too few runs or samples. */
static double own(const struct side *side, int32_t node)
{
        double mean = side_value(side, node) / side->sample, sum = 0;
        size_t n = side->contexts.n_runs;

        if (n < RUNS_MIN || node < 0 || mean < MEAN_MIN)
                return NAN;
        for (size_t i = 0; i < n; i++) {
                double off = side->contexts.value[i][node] / side->sample - mean;

                sum += off * off;
        }
        return sum / (double)(n - 1) / mean;
}

struct dispersion dispersion_make(const struct side *side, const struct labels *labels)
{
        double sum = 0, phi;
        size_t n = 0;

        for (int32_t i = 1; i < side->contexts.tree.n; i++) {
                if (!contexts_is_task(&side->contexts, labels, i))
                        continue;
                phi = own(side, i);
                if (isnan(phi))
                        continue;
                sum += phi;
                n++;
        }
        return (struct dispersion){ .pooled = n ? MAX(1, sum / (double)n) : 1 };
}

double dispersion_of(const struct dispersion *dispersion, const struct side *side, int32_t node)
{
        double phi = own(side, node);

        return phi > dispersion->pooled ? phi : dispersion->pooled;
}
