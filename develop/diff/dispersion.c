/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dispersion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "side.h"
#include "util/util.h"

#define MEAN_MIN 5   /* samples a run: of fewer, variance / mean has no chi-square distribution */
#define GRID 1.3     /* steps between the candidates of a fit */
#define ABOUT 0.02   /* log likelihoods that differ by less fit about as well */
#define TASKS_MAX 200 /* the prior is made of so many tasks, the dearest ones */

struct observed {
        double mean, ratio; /* samples a run; their variance / mean */
};

static double samples(const struct side *side, size_t run, int32_t node)
{
        return side->contexts.value[run][node] / side_sample(side, node);
}

/* False: too few runs or samples. */
static bool observe(const struct side *side, int32_t node, struct observed *ret)
{
        size_t n = side->contexts.n_runs;
        double mean = 0, sum = 0;

        if (n < DISPERSION_RUNS_MIN || node < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                mean += samples(side, i, node) / (double)n;
        if (mean < MEAN_MIN)
                return false;
        for (size_t i = 0; i < n; i++)
                sum += (samples(side, i, node) - mean) * (samples(side, i, node) - mean);
        *ret = (struct observed){ mean, sum / (double)(n - 1) / mean };
        return true;
}

static double usual_ratio(const struct dispersion *dispersion, double mean)
{
        return dispersion->base + dispersion->per_sample * mean;
}

/*
 * Log likelihood of the ratios, which are usual_ratio() times an F variable with @own degrees of freedom and
 * those of the prior. Terms that do not depend on @dispersion are left out.
 */
static double likelihood(const struct dispersion *dispersion, const struct observed *list, size_t n, double own)
{
        double df = dispersion->df, sum = 0;

        for (size_t i = 0; i < n; i++) {
                double usual = usual_ratio(dispersion, list[i].mean), off = own * list[i].ratio / usual;

                sum -= own / 2 * log(usual) + (isinf(df) ? off / 2 : (own + df) / 2 * log1p(off / df));
        }
        return sum + (isinf(df) ? 0 : (double)n * (lgamma((own + df) / 2) - lgamma(df / 2) - own / 2 * log(df / 2)));
}

/*
 * The best fit in a grid for a prior of @df; the grid is fine enough for the little that so few runs can tell. A
 * program of one large task alone fits by either part, and its large spread would be that of small tasks, too: the
 * least @base counts that fits about as well as the best.
 */
static double fit_within(const struct observed *list, size_t n, double own, double df, struct dispersion *ret)
{
        double most = -INFINITY;

        for (double base = 1; base < 60; base *= GRID) {
                struct dispersion best = { .base = base };
                double most_here = -INFINITY;

                for (double per_sample = 0; per_sample < 0.5; per_sample = fmax(1e-5, GRID * per_sample)) {
                        const struct dispersion one = { base, per_sample, df };
                        double here = likelihood(&one, list, n, own);

                        if (here > most_here) {
                                most_here = here;
                                best = one;
                        }
                }
                if (most_here > most + ABOUT) {
                        most = most_here;
                        *ret = best;
                }
        }
        return most;
}

/* The data hardly tell how alike tasks' spreads are, so 1 / df is the mean of candidates, weighted by likelihood. */
static struct dispersion fit(const struct observed *list, size_t n, double own)
{
        static const double dfs[] = { 1, 2, 4, 8, 16, 32, INFINITY };
        struct dispersion fits[ARRAY_SIZE(dfs)], best;
        double most[ARRAY_SIZE(dfs)], sum = 0, inverse = 0;
        size_t at = 0;

        for (size_t i = 0; i < ARRAY_SIZE(dfs); i++) {
                most[i] = fit_within(list, n, own, dfs[i], &fits[i]);
                if (most[i] > most[at])
                        at = i;
        }
        for (size_t i = 0; i < ARRAY_SIZE(dfs); i++) {
                sum += exp(most[i] - most[at]);
                inverse += exp(most[i] - most[at]) / dfs[i];
        }
        best = fits[at];
        best.df = sum / inverse;
        return best;
}

static int compare_means(const void *a, const void *b)
{
        const struct observed *x = a, *y = b;

        if (x->mean != y->mean)
                return x->mean > y->mean ? -1 : 1;
        return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

int dispersion_make(const struct side *side, const struct labels *labels, struct dispersion *ret)
{
        _cleanup_free_ struct observed *list = calloc((size_t)side->contexts.tree.n, sizeof(*list));
        double own = (double)side->contexts.n_runs - 1;
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        for (int32_t i = 1; i < side->contexts.tree.n; i++)
                if (contexts_is_task(&side->contexts, labels, i) && observe(side, i, &list[n]))
                        n++;
        qsort(list, n, sizeof(*list), compare_means);
        n = MIN(n, (size_t)TASKS_MAX);
        *ret = n ? fit(list, n, own) : (struct dispersion){ .base = 1, .df = INFINITY };
        if (n) /* base and per_sample took two degrees of freedom */
                ret->df = fmin(ret->df, fmax(own * (double)n - 2, 0));
        return 0;
}

/*
 * Degrees of freedom of usual_ratio(), which is a sum of two estimates (Satterthwaite): all tasks of a run are slow
 * together, so that the part by sample was seen as often as there are runs, whatever the number of tasks.
 */
static double usual_df(const struct dispersion *dispersion, double mean, double own)
{
        double whole = dispersion->per_sample * mean, both = usual_ratio(dispersion, mean);
        double uncertain = dispersion->base * dispersion->base / dispersion->df + (own > 0 ? whole * whole / own : 0);

        return uncertain > 0 ? both * both / uncertain : INFINITY;
}

static double own_df(const struct side *side)
{
        return (double)side->contexts.n_runs - 1;
}

struct spread dispersion_usual(const struct dispersion *dispersion, const struct side *side, double mean)
{
        bool seen = side->contexts.n_runs >= DISPERSION_RUNS_MIN && mean >= MEAN_MIN;
        double own = own_df(side), df = fmax(1, usual_df(dispersion, mean, own));

        return (struct spread){ fmax(1, usual_ratio(dispersion, mean)), df + (seen ? own : 0) };
}

struct spread dispersion_of(const struct dispersion *dispersion, const struct side *side, int32_t node)
{
        double own = own_df(side), df, usual;
        struct observed observed;

        if (side->uncounted)
                return (struct spread){ INFINITY, INFINITY };
        if (!observe(side, node, &observed))
                return dispersion_usual(dispersion, side,
                                        node < 0 ? 0 : side_value(side, node) / side_sample(side, node));
        if (node == 0) /* the runs' sums themselves: tasks say nothing more about them */
                return (struct spread){ fmax(1, observed.ratio), own };
        usual = usual_ratio(dispersion, observed.mean);
        df = usual_df(dispersion, observed.mean, own);
        return (struct spread){ fmax(1, (df * usual + own * observed.ratio) / (df + own)), df + own };
}
