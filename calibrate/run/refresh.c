/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refresh.h"

#include <math.h>

#include "util/units.h"

#define PERIOD_MAX_S 120.0
#define DOUBT 0.01 /* expected number of wider grids that would explain the steps by chance */

void refresh_start(struct refresh *refresh)
{
        *refresh = (struct refresh){ .period_s = NAN };
}

void refresh_gap(struct refresh *refresh)
{
        refresh->started = false;
}

static bool explains(const struct refresh *refresh, double period_s)
{
        for (size_t i = 0; i < refresh->n; i++) {
                double gap = refresh->gap_s[i];

                if (fabs(gap - period_s * round(gap / period_s)) > refresh->resolution_s)
                        return false;
        }
        return true;
}

/*
 * The grid that lies best in all gaps: the widest one that explains them lies at the edge of what they allow.
 */
static double centred(const struct refresh *refresh, double period_s)
{
        double moment = 0, squares = 0;

        for (size_t i = 0; i < refresh->n; i++) {
                double periods = round(refresh->gap_s[i] / period_s);

                moment += periods * refresh->gap_s[i];
                squares += periods * periods;
        }
        return moment / squares;
}

/*
 * From wide to narrow, so finely that the longest gap cannot jump over a grid. A grid of period P catches one
 * gap by chance with probability 2*resolution/P; times the grids already tried, that must be next to nothing.
 */
static double widest(const struct refresh *refresh)
{
        double longest = 0, shortest = INFINITY, ratio;

        for (size_t i = 0; i < refresh->n; i++) {
                longest = fmax(longest, refresh->gap_s[i]);
                shortest = fmin(shortest, refresh->gap_s[i]);
        }
        ratio = 1 - refresh->resolution_s / (2 * longest);
        for (double period = fmin(PERIOD_MAX_S, shortest + refresh->resolution_s);
             period > 2 * refresh->resolution_s; period *= ratio) {
                double tried = 1 + longest / refresh->resolution_s * log(PERIOD_MAX_S / period);

                if (!explains(refresh, period))
                        continue;
                if (tried * pow(2 * refresh->resolution_s / period, (double)refresh->n) < DOUBT)
                        return centred(refresh, period);
                break;
        }
        /* No grid that is beyond doubt: it is refreshed about as often as we look. */
        return refresh->n == REFRESH_GAPS ? refresh->resolution_s : NAN;
}

void refresh_step(struct refresh *refresh, uint64_t now_ns, double resolution_s)
{
        bool started = refresh->started;
        double gap_s = (double)(now_ns - refresh->last_ns) / (double)NS_PER_S;

        refresh->last_ns = now_ns;
        refresh->started = true;
        refresh->resolution_s = fmax(refresh->resolution_s, resolution_s);
        if (!started || refresh->n == REFRESH_GAPS)
                return;
        refresh->gap_s[refresh->n++] = gap_s;
        /* Three gaps may all be even by chance; later ones correct what they made believe. */
        if (refresh->n >= 3)
                refresh->period_s = widest(refresh);
}
