/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refresh.h"

#include <math.h>

#include "util/units.h"

#define PERIOD_MAX_S 600.0
#define DOUBT 0.01 /* accepted number of wider grids that fit by chance */

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

/* The period that fits all gaps best; the widest possible one is at the edge of the range that they allow. */
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
 * From wide to narrow, in steps so small that no grid is skipped. A grid of period P fits one gap by chance
 * with probability 2*resolution/P; times the number of grids tried, that must be very small.
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
        /* No certain grid: the refresh is about as fast as we look. */
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
        /* Three gaps may fit by chance; later ones correct that. */
        if (refresh->n >= 3)
                refresh->period_s = widest(refresh);
}
